"""Kills processes at 100 moments, half of them around mail, half around money.

    python bench/chat/kills.py [--kills 100] [--seed 1] [--write]

Asks: is a letter to the owner ever lost, and is money ever lost or spent twice, wherever a
process dies? A postman puts letters and hands them to a mail server; a spender reserves and
settles. Each is killed (SIGKILL) a random moment after its first work, again and again over
one store; then what is due is carried, and the books are compared.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import random
import signal
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from exactquote_site.serve.store.database import open_database
from exactquote_site.serve.store.ledger import Ledger
from tests import test_mail

RESULTS = Path(__file__).parent / "results"
NOON = 1_800_000_000.0
LEASE = 60.0
HELD, COST = 10, 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the result beside this file")
    told = parser.parse_args()
    half = told.kills // 2
    result: dict[str, object] = {
        "what": "kill -9 around mail and around settle, over one SQLite store each",
        "command": f"python bench/chat/kills.py --kills {told.kills} --seed {told.seed}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
    }
    for name, kill in (("mail", test_mail.kills), ("money", money)):
        with tempfile.TemporaryDirectory() as folder:
            result[name] = kill(Path(folder), half, told.seed)
    text = json.dumps(result, indent=2) + "\n"
    print(text, end="")
    if told.write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"kills-{result['date']}.json").write_text(text)


def spender(store: str, ready: str) -> None:
    """Reserves and settles, for ever."""
    ledger = Ledger(open_database(store))
    while True:
        held = ledger.reserve(HELD, 10**12, NOON, lifetime=LEASE)
        assert held is not None
        ledger.settle(held, COST, NOON)
        Path(ready).touch()


def money(folder: Path, number: int, seed: int) -> dict[str, int]:
    """Kill a spender so many times; what the books say of it."""
    store = f"sqlite:///{folder / 'store.db'}"
    open_database(store).close()
    context = multiprocessing.get_context("forkserver")
    rng = random.Random(seed)
    for life in range(number):
        ready = folder / f"ready-{life}"
        process = context.Process(target=spender, args=(store, str(ready)))
        process.start()
        while not ready.exists() and process.is_alive():
            time.sleep(0.002)
        time.sleep(rng.random() * 0.03)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL
    database = open_database(store)
    ledger = Ledger(database)
    before, after = ledger.today(NOON), ledger.today(NOON + LEASE + 1)
    with database.transaction() as transaction:
        settled = transaction.execute("SELECT COUNT(*) FROM reservation WHERE state = 'settled'")
    database.close()
    return {
        "kills": number,
        "settled": settled[0][0],
        "held_by_the_dead": before.reserved // HELD,
        "still_held_after_the_lease": after.reserved,
        "spent_but_not_settled": after.spent - COST * settled[0][0],
    }


if __name__ == "__main__":
    main()

"""Times the search of vectors by their number, in memory and in PostgreSQL with pgvector.

    python bench/retrieval/scale.py [--rows 1000 10000 …] [--postgres 10000] [--write]

Asks: up to how many chunks does comparing them all stay below 20 ms and 500 MB? Rows are
random, which is the worst case for an index and makes no difference to comparing all.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.results import keep
from exactquote_site.knowledge.use_multilingual import DIMENSION
from exactquote_site.knowledge.vectors import Vectors

ROWS = (1_000, 10_000, 25_000, 50_000, 100_000, 200_000)
COUNT = 100
MILLISECONDS_MAX = 20.0
MEGABYTES_MAX = 500.0


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, nargs="+", default=ROWS)
    arguments.add_argument("--postgres", type=int, nargs="*", default=[])
    arguments.add_argument("--queries", type=int, default=30)
    arguments.add_argument("--write", action="store_true", help="keep the result, dated")
    options = arguments.parse_args()
    result = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "processors": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 1),
        "dimension": DIMENSION,
        "count": COUNT,
        "memory": [in_memory(rows, options.queries) for rows in options.rows],
        "postgres": [in_postgres(rows, options.queries) for rows in options.postgres],
    }
    fits = [
        row["rows"]
        for row in result["memory"]
        if row["cpu_milliseconds_median"] <= MILLISECONDS_MAX and row["megabytes"] <= MEGABYTES_MAX
    ]
    result["rows_within_limits"] = max(fits, default=0)
    print(json.dumps(result, indent=1))
    if options.write:
        keep(__file__, f"scale-{result['date']}", result)
    return 0


def drawn(rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, DIMENSION), np.float32)


def in_memory(rows: int, queries: int) -> dict[str, float]:
    written = Vectors("random@1", drawn(rows, 1)).to_bytes()
    started = time.perf_counter()
    vectors = Vectors.from_bytes(written)
    read = time.perf_counter() - started
    return {
        "rows": rows,
        "file_megabytes": round(len(written) / 1e6, 1),
        "megabytes": round(vectors.matrix.nbytes / 1e6, 1),
        "read_seconds": round(read, 3),
        **timed(lambda query: vectors.top(query, COUNT), queries),
    }


def in_postgres(rows: int, queries: int) -> dict[str, object]:
    from exactquote_site.knowledge import pg_vectors
    from tests.servers import start_postgres

    vectors = Vectors("random@1", drawn(rows, 1))
    asked = drawn(queries, 2)
    told: dict[str, object] = {"rows": rows}
    with start_postgres() as url:
        for name, indexed_from in (("exact", rows + 1), ("indexed", rows)):
            pg_vectors.INDEXED_FROM = indexed_from
            started = time.perf_counter()
            pg_vectors.load_vectors(url, name, vectors)
            loaded = time.perf_counter() - started
            store = pg_vectors.PgVectors(url, name)
            met = [
                len({r for r, _ in store.top(q, 10)} & {r for r, _ in vectors.top(q, 10)})
                for q in asked
            ]
            told[name] = {
                "load_seconds": round(loaded, 1),
                "recall_at_10": round(sum(met) / (10 * len(asked)), 3),
                **timed(lambda query, store=store: store.top(query, COUNT), queries),
            }
            store.close()
    return told


def timed(search: Callable[[np.ndarray], object], queries: int) -> dict[str, float]:
    asked = drawn(queries + 3, 2)
    took, worked = [], []
    for query in asked:
        started, began = time.perf_counter(), time.process_time()
        search(query)
        took.append((time.perf_counter() - started) * 1000)
        worked.append((time.process_time() - began) * 1000)
    took, worked = took[3:], worked[3:]
    return {
        # Of this process alone: what a busy machine adds isn't in it.
        "cpu_milliseconds_median": round(statistics.median(worked), 2),
        "milliseconds_median": round(statistics.median(took), 2),
        "milliseconds_min": round(min(took), 2),
        "milliseconds_p95": round(sorted(took)[int(len(took) * 0.95)], 2),
    }


if __name__ == "__main__":
    sys.exit(main())

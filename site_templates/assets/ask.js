// Turns a page into one on which a reader may ask, for as long as the function says that it
// can answer. Until then, and otherwise, nothing is added to the page.
//
// What comes from the function is shown as text: no HTML and no Markdown is made of it. A
// link is made of a citation alone, and only to a page of this site. All of it stands behind
// the article, since a browser marks the first place where a cited text is found.

"use strict";

const script = document.currentScript ?? document.querySelector("script[data-root][src$='ask.js']");
const root = new URL(script?.dataset.root ?? "./", location.href);
const ANSWERING = new Set(["ready", "passages", "words"]);
const STATUS_MS = 5000;
const STORE = "exactquote-ask";
// What the function reads of one earlier turn, and of one request where it doesn't say.
const TURN_CHARS = 4000;
const BODY_BYTES = 16384;
// Wherever a function is moved to, a visitor's words go to this site or nowhere.
const HERE = { credentials: "omit", redirect: "error", cache: "no-store" };

const TEXTS = {
  en: {
    ask: "Ask", back: "Back to the conversation", ready: "The answer is here", title: "Ask these pages",
    hide: "Hide", end: "End", send: "Send", stop: "Stop",
    placeholder: "What would you like to know?", you: "You asked", answer: "Answer",
    hideTip: "Hide the panel and keep the conversation", endTip: "End the conversation and clear it",
    limit: "Each quote was checked: it is there, once. Whether it supports the answer is for you to judge.",
    tab: "Until you end it, the conversation stays in this tab.",
    words: "Found by words alone just now.", ended: "The answer was interrupted.", stopped: "Stopped.",
    offline: "The function can't be reached right now. Please try again.",
    pending: "The last answer is still coming; stop it to ask another.",
    quoted: "Answers are quotes from these pages; no model writes them.",
    modelled: "A model answers; every source is checked against these pages.",
    good: "This helped", bad: "This didn't help", thanks: "Thank you.", why: "What was missing? (optional)",
    sendFeedback: "Send", lost: "That couldn't be sent.", receipt: "Receipt",
    receiptTip: "Save what this answer stands on, to check it later",
    humour: "Humour", brevity: "Brevity", honesty: "Honesty", locked: "100, locked",
    source: "Source", sources: "Sources", waiting: "Looking it up", left: "characters left", style: "Style",
  },
  de: {
    ask: "Fragen", back: "Zurück zum Gespräch", ready: "Die Antwort ist da", title: "Frage stellen",
    hide: "Ausblenden", end: "Beenden", send: "Senden", stop: "Anhalten",
    placeholder: "Was möchten Sie wissen?", you: "Ihre Frage", answer: "Antwort",
    hideTip: "Ausblenden und das Gespräch behalten", endTip: "Das Gespräch beenden und löschen",
    limit: "Jedes Zitat wurde geprüft: es steht dort, einmal. Ob es die Antwort trägt, beurteilen Sie.",
    tab: "Bis Sie es beenden, bleibt das Gespräch in diesem Tab.",
    words: "Gerade nur nach Wörtern gesucht.", ended: "Die Antwort wurde unterbrochen.", stopped: "Angehalten.",
    offline: "Die Funktion ist gerade nicht erreichbar. Bitte noch einmal versuchen.",
    pending: "Die letzte Antwort kommt noch; halten Sie sie an, um etwas anderes zu fragen.",
    quoted: "Antworten sind Zitate von diesen Seiten; kein Modell schreibt sie.",
    modelled: "Ein Modell antwortet; jede Quelle wird mit diesen Seiten abgeglichen.",
    good: "Das hat geholfen", bad: "Das hat nicht geholfen", thanks: "Danke.", why: "Was hat gefehlt? (freiwillig)",
    sendFeedback: "Senden", lost: "Das konnte nicht gesendet werden.", receipt: "Beleg",
    receiptTip: "Speichern, worauf diese Antwort beruht, um es später zu prüfen",
    humour: "Humor", brevity: "Kürze", honesty: "Ehrlichkeit", locked: "100, fest",
    source: "Quelle", sources: "Quellen", waiting: "Wird nachgeschlagen", left: "Zeichen übrig", style: "Stil",
  },
};

start();

async function start() {
  const status = await asked();
  if (!status || !ANSWERING.has(status.state)) return;
  await styled();
  new Panel(status, languageOf(status.languages)).show();
}

/** The function's status, or null where nothing answers. */
async function asked() {
  try {
    const response = await fetch(new URL("api/status", root), {
      ...HERE, signal: AbortSignal.timeout(STATUS_MS), headers: { Accept: "application/json" },
    });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

function languageOf(languages) {
  const told = document.documentElement.lang.split("-")[0].toLowerCase();
  return languages.includes(told) ? told : languages[0];
}

/** The stylesheet comes before anything that it is for, so that nothing jumps. */
function styled() {
  return new Promise((done) => {
    const link = make("link", { rel: "stylesheet", href: new URL("assets/ask.css", root).href });
    link.onload = link.onerror = done;
    document.head.append(link);
  });
}

class Panel {
  constructor(status, language) {
    this.status = status;
    this.language = language;
    this.texts = TEXTS[language] ?? TEXTS.en;
    this.running = null;
    this.unread = false;
    this.build();
    this.resume(recalled(status.build_id));
    // A page that a browser kept while the reader was elsewhere knows nothing of what was said there.
    addEventListener("pageshow", (event) => { if (event.persisted) this.resume(recalled(status.build_id)); });
    addEventListener("pagehide", () => this.keep());
  }

  show() {
    document.body.append(this.launcher, this.panel);
    this.follow(true);
  }

  build() {
    const { texts } = this;
    this.launcher = make("button", { type: "button", className: "eq-ask-launcher", onclick: () => this.toggle(true) });
    this.launcher.setAttribute("aria-controls", "eq:ask");
    this.log = make("div", { className: "eq-ask-log", tabIndex: 0 });
    named(this.log, "log", texts.title);
    this.styles = make("div");
    this.panel = make("section", { id: "eq:ask", className: "eq-ask" }, this.head(), this.log, this.styles, this.form(), this.notes());
    this.panel.setAttribute("role", "dialog");
    this.panel.setAttribute("aria-labelledby", "eq:ask-title");
    this.panel.onkeydown = (event) => {
      if (event.key === "Escape" && !event.isComposing) this.toggle(false);
    };
    // The texts that ship run from left to right, whatever the page does.
    this.panel.dir = "ltr";
    this.launcher.lang = this.panel.lang = this.texts === TEXTS[this.language] ? this.language : "en";
  }

  head() {
    const { texts } = this;
    return make("header", { className: "eq-ask-head" },
      make("h2", { textContent: texts.title, id: "eq:ask-title" }),
      make("button", { type: "button", textContent: texts.hide, title: texts.hideTip, onclick: () => this.toggle(false) }),
      make("button", { type: "button", textContent: texts.end, title: texts.endTip, onclick: () => this.end() }));
  }

  form() {
    const { texts } = this;
    this.input = make("textarea", {
      className: "eq-ask-input", rows: 2, placeholder: texts.placeholder, dir: "auto", maxLength: this.status.question_chars,
      oninput: () => { this.counted(); this.keep(); },
      onkeydown: (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        this.submit();
      },
    });
    this.input.setAttribute("aria-label", texts.placeholder);
    this.count = make("span", { className: "eq-ask-count" });
    this.count.setAttribute("role", "status");
    this.stopper = make("button", { type: "button", className: "eq-ask-stop", textContent: texts.stop, onclick: () => this.stop() });
    this.sender = make("button", { type: "submit", className: "eq-ask-send", textContent: texts.send });
    return make("form", {
      className: "eq-ask-form",
      onsubmit: (event) => { event.preventDefault(); this.submit(); },
    }, this.input, make("div", { className: "eq-ask-row" }, this.count, this.stopper, this.sender));
  }

  /** What a quote proves and what is stored, for as long as the panel is open. */
  notes() {
    const stored = this.status.stored?.[this.language] ?? "";
    return make("p", { className: "eq-ask-notes", textContent: `${this.texts.limit} ${stored} ${this.texts.tab}` });
  }

  /** Steps for the reader to choose; honesty stands among them and can't be chosen. */
  dials() {
    const { dials } = this.status;
    if (!dials) return [];
    const row = (name, value, shown, more) => {
      const output = make("output", { textContent: shown });
      const range = make("input", { type: "range", min: 0, max: 100, step: 25, value, ...more(output) });
      return make("label", {}, make("span", { textContent: this.texts[name] }), range, output);
    };
    const chosen = ["humour", "brevity"].map((name) => {
      const value = this.style[name] ?? dials[name];
      return row(name, value, value, (output) => ({
        oninput: ({ target }) => {
          this.style[name] = target.valueAsNumber;
          output.textContent = target.value;
          this.keep();
        },
      }));
    });
    const locked = row("honesty", dials.honesty.value, this.texts.locked, () => ({ disabled: true }));
    return [make("details", { className: "eq-ask-dials" }, make("summary", { textContent: this.texts.style }), ...chosen, locked)];
  }

  /** What to expect here, and what may be asked, until something was. */
  introduce() {
    const { texts, status, thread } = this;
    this.panel.classList.toggle("eq-ask-fresh", !thread.length);
    if (thread.length) return;
    const told = status.state === "passages" ? texts.quoted : texts.modelled;
    this.log.append(make("p", { className: "eq-ask-intro", textContent: told }));
    if (!status.suggestions?.length) return;
    this.log.append(make("div", { className: "eq-ask-suggestions" }, ...status.suggestions.map((text) => make("button", {
      type: "button", textContent: text, dir: "auto", onclick: () => this.submit(text),
    }))));
  }

  /** Goes on with a conversation, or begins one that is empty. */
  resume(kept) {
    this.running?.abort();
    this.running = null;
    Object.assign(this, { thread: kept.thread, session: kept.session, style: kept.style });
    this.input.value = kept.draft;
    this.styles.replaceChildren(...this.dials());
    this.log.replaceChildren();
    this.views = new Map();
    for (const turn of this.thread) {
      if (turn.state === "running") fail(turn, this.texts.ended);
      this.draw(turn);
    }
    this.introduce();
    this.counted();
    this.toggle(kept.open && this.thread.length > 0, false);
  }

  toggle(open, focus = true) {
    this.open = open;
    this.unread &&= !open;
    this.panel.hidden = !open;
    this.launcher.hidden = open;
    this.launcher.setAttribute("aria-expanded", String(open));
    this.told();
    this.keep();
    if (open) this.follow(true);
    if (focus) (open ? this.input : this.launcher).focus();
  }

  /** Lets the buttons and the launcher say how things stand. */
  told() {
    const { texts } = this;
    const busy = this.running !== null;
    this.stopper.hidden = !busy;
    this.sender.hidden = busy;
    this.log.setAttribute("aria-busy", String(busy));
    this.launcher.classList.toggle("eq-ask-running", busy);
    this.launcher.textContent = busy ? texts.waiting : this.unread ? texts.ready : this.thread.length ? texts.back : texts.ask;
  }

  /** Clears all of it, and stops an answer that is running. */
  end() {
    this.resume(fresh());
    this.launcher.focus();
  }

  stop() {
    this.running?.abort();
    this.input.focus();
  }

  async submit(text = this.input.value) {
    const question = text.trim().toWellFormed();
    if (this.running) {
      this.count.textContent = this.texts.pending;
      return;
    }
    if (!question) return;
    const stop = new AbortController();
    const turn = { question, segments: [], state: "running" };
    const body = this.body(question);
    this.running = stop;
    if (!this.thread.length) this.log.replaceChildren();
    this.thread.push(turn);
    this.panel.classList.remove("eq-ask-fresh");
    this.input.value = "";
    this.counted();
    this.draw(turn);
    this.told();
    this.keep();
    this.follow(true);
    this.input.focus();
    try {
      await this.answer(turn, body, stop.signal);
      if (turn.state === "running") fail(turn, this.texts.ended);
    } catch {
      const { stopped, ended, offline } = this.texts;
      if (turn.state === "running") fail(turn, stop.signal.aborted ? stopped : turn.kind ? ended : offline);
    }
    // Of a conversation that was ended meanwhile, nothing is kept.
    if (this.running !== stop) return;
    this.running = null;
    this.unread = !this.open;
    this.counted();
    this.fill(turn);
    this.told();
    this.keep();
  }

  /** The request: as much of the last answered pairs as it may hold. */
  body(question) {
    const { history_pairs: most, body_bytes: bytes = BODY_BYTES, dials } = this.status;
    const answered = this.thread.filter((turn) => turn.state === "done");
    const body = { question, locale: this.language, session: this.session };
    if (dials && Object.keys(this.style).length) body.style = this.style;
    for (let pairs = Math.min(most, answered.length); ; pairs -= 1) {
      const history = answered.slice(answered.length - pairs).flatMap((turn) => [
        { role: "user", content: turn.question },
        { role: "assistant", content: spoken(turn).slice(0, TURN_CHARS).toWellFormed() || "…" },
      ]);
      const text = JSON.stringify({ ...body, history });
      if (!pairs || new TextEncoder().encode(text).length <= bytes) return text;
    }
  }

  async answer(turn, body, signal) {
    const response = await fetch(new URL("api/chat", root), {
      ...HERE, method: "POST", body, signal,
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    });
    if (!response.ok) {
      const told = await response.json().catch(() => null);
      fail(turn, told?.error?.text ?? this.texts.offline);
      return;
    }
    for await (const [name, value] of events(response.body)) {
      heard(turn, name, value);
      this.fill(turn);
      // What ends an answer is its last event, not the connection's end.
      if (turn.state !== "running") return;
    }
  }

  draw(turn) {
    const question = make("p", { className: "eq-ask-question", dir: "auto" }, hidden(`${this.texts.you}: `), turn.question);
    const view = { question, text: make("div", { className: "eq-ask-text", dir: "auto" }), rest: make("div"), drawn: 0 };
    view.box = make("div", { className: "eq-ask-answer" }, hidden(`${this.texts.answer}: `), view.text, view.rest);
    this.views.set(turn, view);
    this.log.append(question, view.box);
    this.fill(turn);
  }

  /** Adds what is new. What stands there stays, with a reader's focus and selection in it. */
  fill(turn) {
    const view = this.views.get(turn);
    if (!view) return;
    const last = view.drawn && turn.segments[view.drawn - 1];
    if (last?.type === "text" && view.text.lastChild.data !== last.text) view.text.lastChild.data = last.text;
    for (; view.drawn < turn.segments.length; view.drawn += 1) view.text.append(this.shown(turn.segments[view.drawn]));
    if (turn.state === "running") {
      view.wait ??= view.rest.appendChild(make("p", { className: "eq-ask-wait" }));
      const told = view.drawn ? "" : this.texts.waiting;
      if (view.wait.textContent !== told) view.wait.textContent = told;
    } else if (!view.finished) {
      view.finished = true;
      view.rest.replaceChildren(...this.after(turn));
    }
    this.follow();
  }

  /** Keeps the newest words in sight, but never so that the question leaves it; a reader who
      scrolls is left alone. */
  follow(again = false) {
    if (!again && Math.abs(this.log.scrollTop - this.followed) > 4) return;
    const { question } = this.views.get(this.thread.at(-1)) ?? {};
    this.log.scrollTop = question ? question.offsetTop - this.log.offsetTop - 12 : 0;
    this.followed = this.log.scrollTop;
  }

  shown(segment) {
    if (segment.type === "text") return document.createTextNode(segment.text);
    if (segment.type === "cite") return this.chip(segment);
    return make("blockquote", { className: "eq-ask-quote", dir: "auto" }, segment.quote, this.chip(segment),
      make("cite", { textContent: segment.title }));
  }

  chip({ href, n, quote, title }) {
    const link = make("a", { className: "eq-ask-chip", textContent: n, title: `“${quote}”` });
    link.setAttribute("aria-label", `${this.texts.source} ${n}: ${title}`);
    const target = new URL(href, root);
    // The server sends links of this site only; whatever else came would stay a plain number.
    if (target.origin !== root.origin || !target.pathname.startsWith(root.pathname)) return link;
    link.href = target.href;
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      // What the reader is sent to must not lie under the panel.
      if (this.covers()) this.toggle(false, false);
    };
    return link;
  }

  covers() {
    const [panel, page] = [this.panel, document.querySelector("article") ?? document.body].map((box) => box.getBoundingClientRect());
    return panel.left < page.right && page.left < panel.right;
  }

  /** What stands below an answer that has ended: how it ended, its sources, what can be done. */
  after(turn) {
    const parts = [];
    if (turn.fault) parts.push(make("p", { className: "eq-ask-fault", textContent: turn.fault }));
    if (turn.words_only && turn.state === "done") parts.push(make("p", { className: "eq-ask-aside", textContent: this.texts.words }));
    const cited = new Map(turn.segments.filter(({ type }) => type === "cite").map((one) => [one.n, one]));
    if (cited.size) {
      const sources = make("ol", { className: "eq-ask-sources" }, ...[...cited.values()].map((one) => make("li", {},
        this.chip(one), make("span", { dir: "auto" }, make("cite", { textContent: one.title }), ` “${one.quote}”`))));
      parts.push(named(sources, "list", this.texts.sources));
    }
    if (turn.state === "done" && turn.receipt) parts.push(this.row(turn));
    return parts;
  }

  /** What a reader can do with a finished answer: say whether it helped, keep its receipt. */
  row(turn) {
    const { texts } = this;
    const said = make("span", { className: "eq-ask-said", tabIndex: -1 });
    const row = make("div", { className: "eq-ask-after" }, said, make("button", {
      type: "button", className: "eq-ask-receipt", textContent: texts.receipt, title: texts.receiptTip,
      onclick: () => save(`receipt-${turn.receipt.answer}.json`, JSON.stringify(turn.receipt, null, 1)),
    }));
    if (turn.rated === undefined) {
      for (const [good, mark, label] of [[true, "👍", texts.good], [false, "👎", texts.bad]]) {
        const button = make("button", { type: "button", textContent: mark, title: label });
        button.setAttribute("aria-label", label);
        button.onclick = () => good || !this.status.feedback_words ? this.rate(turn, good, "", said) : this.why(turn, said);
        said.append(button);
      }
    } else said.textContent = texts.thanks;
    return row;
  }

  why(turn, said) {
    const input = make("input", { type: "text", maxLength: this.status.question_chars, placeholder: this.texts.why, dir: "auto" });
    input.setAttribute("aria-label", this.texts.why);
    const form = make("form", {}, input, make("button", { type: "submit", textContent: this.texts.sendFeedback }));
    form.onsubmit = (event) => { event.preventDefault(); this.rate(turn, false, input.value.trim(), said); };
    said.replaceChildren(form);
    input.focus();
  }

  async rate(turn, good, words, said) {
    const kept = await fetch(new URL("api/feedback", root), {
      ...HERE, method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ answer: turn.receipt.answer, good, words }),
    }).then((response) => response.ok, () => false);
    if (kept) turn.rated = good;
    said.textContent = kept ? this.texts.thanks : this.texts.lost;
    said.focus();
    this.keep();
  }

  counted() {
    const left = this.status.question_chars - this.input.value.length;
    this.count.textContent = left < 100 ? `${left} ${this.texts.left}` : "";
  }

  keep() {
    const { thread, session, style, open } = this;
    const draft = this.input.value;
    try {
      if (thread.length || draft || Object.keys(style).length) {
        sessionStorage.setItem(STORE, JSON.stringify({ build: this.status.build_id, thread, session, style, open, draft }));
      } else sessionStorage.removeItem(STORE);
    } catch { /* Without storage the conversation lasts as long as the page. */ }
  }
}

/** What this tab kept of a conversation with the same build. */
function recalled(build) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORE) ?? "null");
    if (kept?.build === build) return { ...fresh(), ...kept };
  } catch { /* What can't be read was not kept. */ }
  return fresh();
}

function fresh() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const session = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { thread: [], draft: "", open: false, session, style: {} };
}

function heard(turn, name, value) {
  if (name === "start") Object.assign(turn, { kind: value.kind, words_only: value.words_only });
  else if (name === "text" || name === "cite" || name === "quote") {
    const last = turn.segments.at(-1);
    if (name === "text" && last?.type === "text") last.text += value.text;
    else turn.segments.push({ type: name, ...value });
  } else if (name === "done") { turn.state = "done"; turn.outcome = value.outcome; turn.receipt = value.receipt; }
  else if (name === "error") fail(turn, value.text);
}

function fail(turn, text) {
  turn.state = "failed";
  turn.fault = text;
}

function spoken(turn) {
  return turn.segments.map(({ type, text, quote }) => type === "text" ? text : type === "quote" ? `${quote}\n` : "").join("").trim();
}

/** The events of a stream, by the WHATWG's rules for what this server sends. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    held += value ?? "";
    let end;
    while ((end = held.indexOf("\n\n")) >= 0) {
      const block = held.slice(0, end);
      held = held.slice(end + 2);
      const name = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (name && data) yield [name, JSON.parse(data)];
    }
    if (done) return;
  }
}

/** Lets the browser save a file that was made here. */
function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  make("a", { href: url, download: name }).click();
  // The download has begun by then, and holds on to its content itself.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function named(element, role, label) {
  element.setAttribute("role", role);
  element.setAttribute("aria-label", label);
  return element;
}

/** Words for those who can't see who speaks. */
function hidden(text) {
  return make("span", { className: "eq-ask-unseen", textContent: text });
}

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

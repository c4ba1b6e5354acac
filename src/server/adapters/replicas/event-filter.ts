/**
 * Passes a stream of server-sent events on, line by line, and remembers the number of the last event. When the stream is continued by another
 * replica, it leaves out what the caller has already. Of several events that belong to one number only the last carries it, so events without a
 * number wait for the next one that has one.
 */
export class EventFilter {
  #rest = '';
  #block = '';
  #id: number | undefined;
  #hasData = false;
  /** Events without a number. */
  #held = '';
  #last: number | undefined;
  /** Events up to this number are left out. */
  #seen = 0;
  #isAgain = false;
  #hasUnnumbered = false;
  #decoder = new TextDecoder();

  /** The number of the last event that was passed on. */
  get last(): number | undefined {
    return this.#last;
  }

  /** False: events without a number were passed on, and another replica can't know which. */
  get canContinue(): boolean {
    return !this.#hasUnnumbered;
  }

  /** The caller has the events up to this number from this replica itself. */
  startAfter(last: number): void {
    this.#last = last;
  }

  /** The stream comes from another replica from now on. */
  again(): void {
    this.#seen = this.#last ?? 0;
    this.#isAgain = this.#last !== undefined;
    this.#decoder = new TextDecoder();
    this.#rest = '';
    this.#held = '';
    this.#startBlock();
  }

  /** What to pass on of a piece. */
  pass(piece: Uint8Array): string {
    const lines = (this.#rest + this.#decoder.decode(piece, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    let out = '';
    for (const line of lines) out += this.#line(line);
    // A stream that has had no number so far has none: its events must not wait.
    if (this.#last === undefined && this.#held !== '') {
      out += this.#held;
      this.#held = '';
      this.#hasUnnumbered = true;
    }
    return out;
  }

  /** What is left at the end of a stream that nobody continues. */
  end(): string {
    const out = this.#held + this.#block + this.#rest;
    this.#held = '';
    this.#rest = '';
    this.#startBlock();
    return out;
  }

  #line(line: string): string {
    if (line === '' || line === '\r') return this.#endBlock(`${line}\n`);
    const isComment = line.startsWith(':');
    if (isComment || line.startsWith('retry:')) {
      // What the new stream says about its beginning is not for a caller whose stream continues.
      const isAboutStart = !isComment || line.startsWith(': reset');
      return this.#isAgain && isAboutStart ? '' : `${line}\n`;
    }
    const id = /^id: ?(\d{1,15})\r?$/.exec(line)?.[1];
    if (id !== undefined) this.#id = Number(id);
    if (line.startsWith('data')) this.#hasData = true;
    this.#block += `${line}\n`;
    return '';
  }

  #endBlock(blank: string): string {
    const [block, id, hasData] = [this.#block + blank, this.#id, this.#hasData];
    this.#startBlock();
    if (id === undefined) {
      if (hasData) this.#held += block;
      return hasData ? '' : block;
    }
    const out = id > this.#seen || !this.#isAgain ? this.#held + block : '';
    this.#held = '';
    if (out !== '') this.#last = id;
    return out;
  }

  #startBlock(): void {
    this.#block = '';
    this.#id = undefined;
    this.#hasData = false;
  }
}

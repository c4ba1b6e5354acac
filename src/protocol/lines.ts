/** One line of text from a program or from a peer on a pipe. */
export interface Line {
  /**
   * Without the line end. Bytes that are not UTF-8 become U+FFFD. A line over the limit is cut to its
   * beginning.
   */
  readonly text: string;
  /** Number of bytes that were cut off because the line was too long. */
  readonly dropped: number;
}

/** Splits a byte stream into lines. Keeps state between chunks; use one for each stream. */
export interface LineSplitter {
  /** Takes the next chunk and returns the lines that it completes. */
  push(chunk: Uint8Array): readonly Line[];
  /** Call once after the last chunk. Returns the text after the last newline, if there is any. */
  end(): readonly Line[];
}

/** Limits of `lineSplitter`. */
export interface SplitterOptions {
  /** Longest line in bytes. Default 8 MiB. */
  readonly lineBytesMax?: number;
}

const MIB = 1_048_576;
/** Coding CLIs put whole files and tool results into one line, so lines of several MB are normal. */
const LINE_BYTES_MAX = 8 * MIB;
/** How much of an overlong line is kept, so that an error message can show which line it was. */
const HEAD_BYTES = 4096;
const NEWLINE = 0x0a;

/**
 * Splits bytes into lines in bounded memory. Node's `readline` buffers a line until it throws at 512
 * MB; this splitter keeps only the beginning of an overlong line, counts the rest, and starts again
 * after the next newline.
 */
export function lineSplitter({ lineBytesMax = LINE_BYTES_MAX }: SplitterOptions = {}): LineSplitter {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let pieces: Uint8Array[] = [];
  let kept = 0;
  let dropped = 0;

  const keep = (piece: Uint8Array): void => {
    if (piece.length === 0) return;
    if (dropped > 0) {
      dropped += piece.length;
      return;
    }
    if (kept + piece.length <= lineBytesMax) {
      pieces.push(piece);
      kept += piece.length;
      return;
    }
    const head = beginning([...pieces, piece], Math.min(HEAD_BYTES, lineBytesMax));
    dropped = kept + piece.length - head.length;
    pieces = [head];
    kept = head.length;
  };
  const take = (): Line => {
    const line = { text: textOf(joined(pieces), decoder), dropped };
    pieces = [];
    kept = 0;
    dropped = 0;
    return line;
  };
  return {
    push: (chunk) => {
      const lines: Line[] = [];
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        keep(chunk.subarray(from, at));
        lines.push(take());
        from = at + 1;
      }
      // Copied, because a view would keep the whole chunk in memory until the line is complete.
      if (from < chunk.length) keep(from === 0 ? chunk : chunk.slice(from));
      return lines;
    },
    end: () => (kept === 0 ? [] : [take()]),
  };
}

/** A copy of the first bytes. Joins no more pieces than needed. */
function beginning(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  let enough = 0;
  for (let sum = 0; sum < bytes && enough < pieces.length; enough += 1) sum += pieces[enough]?.length ?? 0;
  return joined(pieces.slice(0, enough)).slice(0, bytes);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function textOf(bytes: Uint8Array, decoder: TextDecoder): string {
  const text = decoder.decode(bytes);
  const from = text.startsWith('\uFEFF') ? 1 : 0;
  return text.slice(from, text.endsWith('\r') ? -1 : undefined);
}

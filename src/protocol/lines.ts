/** One line of what somebody writes: a program, or a peer on a pipe. */
export interface Line {
  /** Without its end. Bytes that are not UTF-8 are U+FFFD. Of a line that was too long: its beginning. */
  readonly text: string;
  /** Bytes that were left out because the line was too long. */
  readonly dropped: number;
}

export interface LineSplitter {
  push(chunk: Uint8Array): readonly Line[];
  /** What stands after the last newline, if anything does. */
  end(): readonly Line[];
}

export interface SplitterOptions {
  readonly lineBytesMax?: number;
}

const MIB = 1_048_576;
/** Coding CLIs put whole files and tool results in one line: several MB are in order. */
const LINE_BYTES_MAX = 8 * MIB;
/** So much of an overlong line is kept, to say which one it was. */
const HEAD_BYTES = 4096;
const NEWLINE = 0x0a;

/**
 * Splits bytes into lines. Not `readline`: that one throws at a line of 512 MB, and keeps it until then. A line above the limit is
 * cut to its head and the rest is counted, not kept; the next newline starts afresh.
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
      // A view would keep the whole chunk alive as long as the line is unfinished; a copy of the rest does not.
      if (from < chunk.length) keep(from === 0 ? chunk : chunk.slice(from));
      return lines;
    },
    end: () => (kept === 0 ? [] : [take()]),
  };
}

/** A copy of the first bytes, without joining the rest. */
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

import type fc from 'fast-check';

/** What is sent in one try: pieces of bytes, as latin1 text, so that a case can be kept in a JSON file. Their meaning is the surface's. */
export type FuzzCase = readonly string[];

/** One way into a node or a client that takes bytes from others. */
export interface FuzzSurface {
  readonly name: string;
  readonly cases: fc.Arbitrary<FuzzCase>;
  /** Throws if the input does what no input may: a 5xx, a hang, a crash. */
  send(input: FuzzCase): Promise<void>;
  /** Throws if something is wrong after many inputs: no answer to a good request, an error in the log, a task that no accepted request made. */
  check(): Promise<void>;
  /** Resident memory of the process under test. */
  rssMib(): number;
  close(): Promise<void>;
}

/** Generous: the machine may be busy with other things. */
export const HANG_MS = 60_000;

export async function within<T>(what: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what}: no end after ${HANG_MS} ms`)), HANG_MS);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** An error that the node has logged. */
export function assertNoErrors(log: string): void {
  const found = /^.*"level":"error".*$/m.exec(log)?.[0];
  if (found !== undefined) throw new Error(`the node logged an error: ${found.slice(0, 1000)}`);
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

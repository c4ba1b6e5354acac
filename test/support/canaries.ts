import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A different secret for each place, so that a found secret shows where it came from. */
export interface Canaries {
  /** The secret of that place: the same for the same place. */
  at(place: string): string;
  /** Registers a secret that another program has made. */
  know(place: string, secret: string): void;
  /** The places whose secret is in the text, plain or in base64. */
  in(text: string | Buffer): readonly string[];
}

export function createCanaries(): Canaries {
  const secrets = new Map<string, string>();
  return {
    at: (place) => {
      const known = secrets.get(place) ?? `canary-${place}-${randomBytes(16).toString('hex')}`;
      secrets.set(place, known);
      return known;
    },
    know: (place, secret) => void secrets.set(place, secret),
    in: (text) => {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      return [...secrets].filter(([, secret]) => spellings(secret).some((spelling) => bytes.includes(spelling))).map(([place]) => place);
    },
  };
}

/** Base64 of a text with the secret has three forms, depending on the secret's offset. */
function spellings(secret: string): readonly string[] {
  const coded = [0, 1, 2].map((at) => {
    const text = Buffer.from(`${'x'.repeat(at)}${secret}`).toString('base64');
    return text.slice(4, -4);
  });
  return [secret, ...coded];
}

/** Every file below a folder: its path and content. */
export function filesBelow(folder: string): readonly (readonly [path: string, bytes: Buffer])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => [path, readFileSync(path)]);
}

export interface Running {
  readonly pid: number;
  readonly cmdline: string;
  readonly environ: string;
}

/** A process and its descendants, with arguments and environment. Linux only. */
export function treeOf(pid: number): readonly Running[] {
  const read = (of: number, name: string): string => {
    try {
      return readFileSync(`/proc/${of}/${name}`, 'utf8');
    } catch {
      return ''; // the process has ended
    }
  };
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(/^PPid:\s*(\d+)$/m.exec(read(Number(name), 'status'))?.[1] ?? 0)] as const);
  const below = (of: number): readonly number[] => [
    of,
    ...parents.filter(([, parent]) => parent === of).flatMap(([child]) => below(child)),
  ];
  return below(pid).map((each) => ({ pid: each, cmdline: read(each, 'cmdline'), environ: read(each, 'environ') }));
}

/** The secrets of this run. All diagnostics are masked, and no flag switches that off (A2A CLI specification §8). */
export interface Secrets {
  /** Masks this value from now on. Values shorter than 4 characters are not masked: they would mask unrelated text. */
  add(secret: string | undefined): void;
  mask(text: string): string;
}

const MASK = '***';
const SHORTEST = 4;

/** Starts without secrets. */
export function createSecrets(): Secrets {
  const known = new Set<string>();
  return {
    add: (secret) => {
      if (secret === undefined || secret.length < SHORTEST) return;
      known.add(secret);
      known.add(encodeURIComponent(secret));
      known.add(JSON.stringify(secret).slice(1, -1));
      known.add(Buffer.from(secret).toString('base64'));
    },
    mask: (text) => {
      let out = text;
      for (const secret of [...known].sort((left, right) => right.length - left.length)) out = out.replaceAll(secret, MASK);
      return out;
    },
  };
}

/** Secrets of this run. Diagnostics pass through here, and there is no flag that lets one through (reference/cli §8). */
export interface Secrets {
  /** Hides it from now on; what is shorter than 4 characters would hide half of the text and is left. */
  add(secret: string | undefined): void;
  mask(text: string): string;
}

const MASK = '***';
const SHORTEST = 4;

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

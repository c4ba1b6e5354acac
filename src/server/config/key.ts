import type { Json } from '#protocol';
import type { KeyType } from './values.ts';

/** One thing that can be configured, described once: parsing, help, docs/config.md and the tests are made of this. */
export interface Key {
  /** Its place in the file, as `limits.bodyBytesMax`. */
  readonly name: string;
  readonly type: KeyType;
  readonly default?: Json;
  /** Names in the environment; the first is our own. */
  readonly env: readonly string[];
  readonly flag?: string;
  /** What the flag does, where that is the opposite of true. */
  readonly flagMeans?: Json;
  /** What the help says of the flag, where that differs from what the key is. */
  readonly flagDoc?: string;
  /** Another key that this is a foreign name for; it is read if that one is not there in the same layer. */
  readonly means?: string;
  readonly doc: string;
}

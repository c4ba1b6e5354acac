/** One result of an examination. `id` is for programs and never changes. */
export interface Finding {
  /** Stable name of the check, for programs. */
  readonly id: string;
  readonly level: 'ok' | 'note' | 'warning' | 'error';
  /** What was found, in one sentence. */
  readonly what: string;
  /** Why it matters, or what was observed. */
  readonly why?: string | undefined;
  /** What to do about it. */
  readonly fix?: string | undefined;
  readonly url?: string | undefined;
}

export function ok(id: string, what: string, more: Partial<Finding> = {}): Finding {
  return { id, level: 'ok', what, ...more };
}

export function note(id: string, what: string, more: Partial<Finding> = {}): Finding {
  return { id, level: 'note', what, ...more };
}

export function warning(id: string, what: string, more: Partial<Finding> = {}): Finding {
  return { id, level: 'warning', what, ...more };
}

export function error(id: string, what: string, more: Partial<Finding> = {}): Finding {
  return { id, level: 'error', what, ...more };
}

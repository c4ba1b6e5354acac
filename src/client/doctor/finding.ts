/** One result of an examination. `id` is for programs and never changes. */
export interface Finding {
  readonly id: string;
  readonly level: 'ok' | 'note' | 'warning' | 'error';
  readonly what: string;
  /** Why it matters, or what was observed. */
  readonly why?: string | undefined;
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

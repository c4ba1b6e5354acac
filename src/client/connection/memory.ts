import type { ProtocolBinding } from '#bindings';

/** The wires that we call by. */
export type Binding = ProtocolBinding;

/** What worked once. */
export interface RememberedWay {
  readonly url: string;
  readonly binding: Binding;
  readonly dialect: string;
}

/** Keeps what worked, by the target that was connected to. A command line writes it to a file; a browser may use its storage. */
export interface ConnectionMemory {
  recall(target: string): RememberedWay | undefined | Promise<RememberedWay | undefined>;
  remember(target: string, way: RememberedWay): void | Promise<void>;
}

export function createMemory(): ConnectionMemory {
  const ways = new Map<string, RememberedWay>();
  return {
    recall: (target) => ways.get(target),
    remember: (target, way) => void ways.set(target, way),
  };
}

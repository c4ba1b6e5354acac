/** The budgets of unsent content, in bytes. 0 means no limit. */
export interface UnsentLimits {
  /** Of one connection. */
  readonly unsentConnectionBytesMax: number;
  /** Of all connections of one caller. */
  readonly unsentCallerBytesMax: number;
  /** Of the node. */
  readonly unsentBytesMax: number;
}

/** A response whose reader is slow. */
export interface UnsentResponse {
  /** Responses with the same caller share its budget. Undefined: only the budget of the node applies. */
  readonly caller: string | undefined;
  /** Disconnects the reader. */
  readonly cut: () => void;
}

/**
 * Counts what responses hold in memory because their readers are slow. Beyond a budget, the reader that has taken nothing for the longest
 * time is disconnected (docs/faults.md, H16).
 */
export interface UnsentBudget {
  /** Notes how many bytes a response holds now. Called after each piece that its reader has taken, which also counts as progress. */
  hold(response: UnsentResponse, bytes: number): void;
  /** The response holds nothing any more. */
  release(response: UnsentResponse): void;
  readonly bytes: number;
}

export function createUnsentBudget(limits: UnsentLimits): UnsentBudget {
  /** The bytes of each response, the one with the oldest progress first. */
  const held = new Map<UnsentResponse, number>();
  const ofCaller = new Map<string, number>();
  let total = 0;
  const count = (caller: string | undefined, bytes: number): void => {
    total += bytes;
    if (caller === undefined) return;
    const sum = (ofCaller.get(caller) ?? 0) + bytes;
    if (sum > 0) ofCaller.set(caller, sum);
    else ofCaller.delete(caller);
  };
  const release = (response: UnsentResponse): void => {
    const bytes = held.get(response);
    if (bytes === undefined) return;
    held.delete(response);
    count(response.caller, -bytes);
  };
  const cut = (response: UnsentResponse): void => {
    release(response);
    response.cut();
  };
  /** Cuts the slowest readers that match, but not the newest, while the sum is too large. */
  const cutSlowest = (newest: UnsentResponse, matches: (response: UnsentResponse) => boolean, isTooMuch: () => boolean): void => {
    for (const response of held.keys()) {
      if (!isTooMuch()) return;
      if (response !== newest && matches(response)) cut(response);
    }
  };
  return {
    get bytes() {
      return total;
    },
    hold: (response, bytes) => {
      const { caller } = response;
      release(response);
      held.set(response, bytes);
      count(caller, bytes);
      if (isOver(bytes, limits.unsentConnectionBytesMax)) {
        cut(response);
        return;
      }
      if (caller !== undefined) {
        cutSlowest(
          response,
          (other) => other.caller === caller,
          () => isOver(ofCaller.get(caller) ?? 0, limits.unsentCallerBytesMax),
        );
      }
      cutSlowest(
        response,
        () => true,
        () => isOver(total, limits.unsentBytesMax),
      );
    },
    release,
  };
}

function isOver(bytes: number, max: number): boolean {
  return max > 0 && bytes > max;
}

/** Options of `createTokenBuckets`. */
export interface TokenBucketOptions {
  /** How many tokens are added each second. 0 means no limit. */
  readonly perSecond: number;
  /** The size of a bucket: how many tokens can be taken at once. */
  readonly burst: number;
  /** A monotonic clock in milliseconds. */
  readonly ticks?: () => number;
}

/**
 * Token buckets by name. Full buckets are forgotten, so memory is bounded by the number of recent
 * callers.
 */
export interface TokenBuckets {
  /**
   * Takes tokens and returns 0. If there are too few, takes none and returns how many milliseconds to
   * wait.
   */
  take(name: string, amount?: number): number;
  /** Takes tokens for something that was already used, even if the bucket goes below zero. */
  charge(name: string, amount: number): void;
  readonly size: number;
}

/** Full buckets are removed when there are this many. */
const SWEEP_AT = 10_000;
/** Tolerance for floating-point sums. */
const ROUNDING = 1e-6;

interface Bucket {
  left: number;
  at: number;
}

/** A bucket is refilled when it is used; no timer runs. */
export function createTokenBuckets({ perSecond, burst, ticks = () => performance.now() }: TokenBucketOptions): TokenBuckets {
  const buckets = new Map<string, Bucket>();
  const perMs = perSecond / 1000;
  let sweepAt = SWEEP_AT;

  const sweep = (now: number): void => {
    for (const [name, { left, at }] of buckets) if (left + (now - at) * perMs >= burst) buckets.delete(name);
    // Sweep again when there are twice as many buckets, so that sweeping stays cheap per call.
    sweepAt = Math.max(SWEEP_AT, buckets.size * 2);
  };
  const refilled = (name: string): Bucket => {
    const now = ticks();
    const known = buckets.get(name);
    if (known !== undefined) {
      known.left = Math.min(burst, known.left + (now - known.at) * perMs);
      known.at = now;
      return known;
    }
    if (buckets.size >= sweepAt) sweep(now);
    const bucket = { left: burst, at: now };
    buckets.set(name, bucket);
    return bucket;
  };
  return {
    get size() {
      return buckets.size;
    },
    take: (name, amount = 1) => {
      if (perSecond === 0) return 0;
      const bucket = refilled(name);
      // An amount larger than the bucket passes when the bucket is full, and leaves it below zero.
      const wanted = Math.min(amount, burst);
      const missing = wanted - bucket.left;
      if (missing > ROUNDING) return Math.ceil((missing - ROUNDING) / perMs);
      bucket.left -= amount;
      return 0;
    },
    charge: (name, amount) => {
      if (perSecond > 0) refilled(name).left -= amount;
    },
  };
}

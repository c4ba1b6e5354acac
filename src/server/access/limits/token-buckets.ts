export interface TokenBucketOptions {
  /** What comes back each second; 0: nothing is limited. */
  readonly perSecond: number;
  /** What can be taken at once. */
  readonly burst: number;
  /** Milliseconds from anywhere that only grow. */
  readonly ticks?: () => number;
}

/** Token buckets by name. One that is full again is as good as none, so memory is bounded by who has called lately. */
export interface TokenBuckets {
  /** 0: taken. Otherwise nothing was, and this is how many milliseconds to wait. */
  take(name: string, amount?: number): number;
  /** Takes what has been used already, also what is not there. */
  charge(name: string, amount: number): void;
  readonly size: number;
}

const SWEEP_AT = 10_000;
/** Sums of fractions are never exact. */
const ROUNDING = 1e-6;

interface Bucket {
  left: number;
  at: number;
}

export function createTokenBuckets({ perSecond, burst, ticks = () => performance.now() }: TokenBucketOptions): TokenBuckets {
  const buckets = new Map<string, Bucket>();
  const perMs = perSecond / 1000;
  let sweepAt = SWEEP_AT;

  const sweep = (now: number): void => {
    for (const [name, { left, at }] of buckets) if (left + (now - at) * perMs >= burst) buckets.delete(name);
    // Nothing more to forget: look again when there are twice as many, so that looking stays cheap.
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
      // What is larger than the whole bucket passes when the bucket is full, and leaves it in debt.
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

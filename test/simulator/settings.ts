/** The lease of each replica. */
export const LEASE_MS = 2000;
export const REPLICAS = 3;
export const CELLS = 8;
export const CLIENTS = 8;
/** Requests of each client. */
export const REQUESTS = 26;
/** Faults of a seed. */
export const FAULTS = 22;
/** After the last fault, everything must be settled within this time. */
export const SETTLE_MS = 120_000;
/** Then webhooks get this time for what they have to repeat. A failed delivery is repeated after 5 s, and then after 5 minutes. */
export const DELIVERY_MS = 8000;
/** A seed takes 9,000 steps on average. One that takes so many never ends. */
export const STEPS_MAX = 200_000;

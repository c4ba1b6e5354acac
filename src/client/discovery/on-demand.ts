// What a client needs only for some agents: dialects other than the current one, and signatures of cards. It imports nothing of the client,
// so that bundlers keep the rest of the client in one file.
import type { Registry } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';

export const everyDialect: Registry = createRegistry(DIALECTS);

export { verifyCard } from '#protocol';

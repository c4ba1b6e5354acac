import { describe, it } from 'vitest';
import { AUTH_CHECKS } from './keys/auth.ts';

describe('a key of who may come in that is ignored is noticed', () => {
  for (const [name, check] of Object.entries(AUTH_CHECKS)) it(name, check);
});

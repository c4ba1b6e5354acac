import { describe, it } from 'vitest';
import { AUTH_CHECKS } from './keys/auth.ts';

describe('a node that ignores a setting of authentication fails its test', () => {
  for (const [name, check] of Object.entries(AUTH_CHECKS)) it(name, check);
});

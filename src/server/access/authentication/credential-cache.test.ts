import { expect, it } from 'vitest';
import { cacheCredentials } from './credential-cache.ts';

const counted = () => {
  const asked: string[] = [];
  const known = cacheCredentials((credential: string) => {
    asked.push(credential);
    return credential.startsWith('good') ? credential.length : undefined;
  });
  return { asked, ...known };
};

it('looks a credential up once until the cache is emptied', () => {
  const { asked, find, forget } = counted();
  expect([find('good'), find('good'), find('good one')]).toEqual([4, 4, 8]);
  expect(asked).toEqual(['good', 'good one']);
  forget();
  expect(find('good')).toBe(4);
  expect(asked).toEqual(['good', 'good one', 'good']);
});

it('remembers neither undefined results nor long credentials', () => {
  const { asked, find } = counted();
  const long = `good${'!'.repeat(1024)}`;
  for (const credential of ['bad', 'bad', long, long]) find(credential);
  expect(asked).toHaveLength(4);
});

it('remembers at most a thousand credentials', () => {
  const { asked, find } = counted();
  for (let at = 0; at < 1000; at += 1) find(`good ${at}`);
  find('good 0');
  expect(asked).toHaveLength(1000);
  find('good 1000');
  find('good 0');
  expect(asked).toHaveLength(1002);
});

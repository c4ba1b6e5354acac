import { describe, expect, it } from 'vitest';
import { leadsInside } from './own-machine.ts';

const INSIDE = [
  'http://0x7f.1/latest/meta-data',
  'http://127.0.0.1:6379/',
  'http://2130706433/',
  'http://localhost:8080/a2a',
  'http://api.localhost/',
  'http://0.0.0.0/',
  'http://169.254.169.254/latest/meta-data',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[fe80::1]/',
];

describe('an address that a card names', () => {
  it.each(INSIDE)('%s is not called if the card came from another host', (url) => {
    expect(leadsInside(url, 'https://agent.example')).toBe(true);
    expect(leadsInside(url, 'http://10.0.0.5:8080')).toBe(true);
  });

  it.each(INSIDE)('%s is called if the card came from this machine, or from the caller', (url) => {
    expect(leadsInside(url, 'http://localhost:41242')).toBe(false);
    expect(leadsInside(url, undefined)).toBe(false);
  });

  it.each(['https://agent.example/a2a', 'http://10.0.0.6/', 'http://localhost.example/', 'http://1270.example/', 'https://[2a00::1]/'])(
    '%s is called',
    (url) => expect(leadsInside(url, 'https://agent.example')).toBe(false),
  );
});

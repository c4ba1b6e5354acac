import { afterEach, describe, expect, it, vi } from 'vitest';
import { placeOf, urlProblem } from './url.ts';

describe('the URL of a database', () => {
  it.each([
    'postgres://parley@localhost/parley',
    'postgresql://parley:se%23cret@db.example.org:5433/parley?sslmode=verify-full',
    'postgres:///parley',
    'postgres://parley:1,2@localhost/parley',
  ])('accepts %s', (url) => expect(urlProblem(url)).toBe(undefined));

  it.each([
    ['sqlite:./data', 'must be a URL that starts with postgres://'],
    ['postgres:parley', 'must be a URL that starts with postgres://'],
    ['postgres://parley:se#cret@localhost/parley', '%23 for #'],
    ['postgres://parley:secret@one,two/parley', 'must name one host'],
    ['postgres://one:5432,two:5432/parley?sslmode=verify-full', 'must name one host'],
    ['postgres://parley:se/cret@localhost/parley', '%2F for /'],
  ])('refuses %s without repeating it', (url, words) => {
    expect(urlProblem(url)).toContain(words);
    expect(urlProblem(url)).not.toMatch(/cret|data/);
  });
});

describe('the place of a database', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    ['postgres://parley:secret@db.example.org:5433/parley?sslmode=verify-full', 'db.example.org:5433/parley'],
    ['postgres:///parley?host=/run/postgresql', '/run/postgresql/parley'],
    ['postgres://', 'localhost'],
  ])('of %s is %s', (url, place) => {
    vi.stubEnv('PGHOST', '');
    expect(placeOf(url)).toBe(place);
  });

  it('is that of the environment if the URL has no host', () => {
    vi.stubEnv('PGHOST', '10.0.0.9');
    expect(placeOf('postgres:///parley')).toBe('10.0.0.9/parley');
  });
});

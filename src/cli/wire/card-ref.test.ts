import { describe, expect, it } from 'vitest';
import { readCardRef } from './card-ref.ts';

describe('readCardRef', () => {
  it.each([
    ['agents.example.org', 'https://agents.example.org/.well-known/agent-card.json'],
    ['localhost:41242', 'http://localhost:41242/.well-known/agent-card.json'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/.well-known/agent-card.json'],
    ['https://agents.example.org/', 'https://agents.example.org/.well-known/agent-card.json'],
    ['https://agents.example.org/own/card.json', 'https://agents.example.org/own/card.json'],
    ['https://agents.example.org/card?v=2', 'https://agents.example.org/card?v=2'],
  ])('%s', (text, url) => {
    expect(readCardRef(text)).toMatchObject({ kind: 'url', url });
  });

  it('tries the usual place below an address that may not be a card’s own', () => {
    expect(readCardRef('http://localhost:1/agents/echo/')).toMatchObject({
      url: 'http://localhost:1/agents/echo/',
      instead: 'http://localhost:1/agents/echo/.well-known/agent-card.json',
    });
  });

  it('takes paths and file URLs for files, and a fragment for an entry', () => {
    expect(readCardRef('./card.json')).toMatchObject({ kind: 'file', path: expect.stringMatching(/\/card\.json$/) });
    expect(readCardRef('file:///tmp/card.json')).toMatchObject({ kind: 'file', path: '/tmp/card.json' });
    expect(readCardRef('https://x.example/catalog.json#urn:air:x:a')).toMatchObject({
      url: 'https://x.example/catalog.json',
      entry: 'urn:air:x:a',
    });
  });

  it('refuses what is no address', () => {
    expect(() => readCardRef('http://')).toThrow();
  });
});

import { describe, expect, it } from 'vitest';
import { cardLocations, readTarget } from './target.ts';

describe('a target', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['https://agent.example', 'https://agent.example/'],
    ['agent.example', 'https://agent.example/'],
    ['agent.example/team?x=1', 'https://agent.example/team?x=1'],
    ['localhost:41242', 'http://localhost:41242/'],
    ['127.0.0.1:8001/a2a', 'http://127.0.0.1:8001/a2a'],
    ['[::1]:8001', 'http://[::1]:8001/'],
    ['  https://agent.example/#top ', 'https://agent.example/'],
    ['./card.json', './card.json'],
    ['card.json', 'card.json'],
    ['/etc/agents/card.json', '/etc/agents/card.json'],
    ['~/card.json', '~/card.json'],
    ['file:///tmp/my%20card.json', '/tmp/my card.json'],
  ];
  for (const [text, wanted] of cases) {
    it(text, () => {
      const target = readTarget(text);
      expect(target.kind === 'url' ? target.url.href : target.path).toBe(wanted);
    });
  }
});

describe('the locations of a card', () => {
  it('are four paths below a base, and the address itself', () => {
    expect(cardLocations(new URL('https://x.example')).map(({ cardUrl }) => cardUrl)).toEqual([
      'https://x.example/.well-known/agent-card.json',
      'https://x.example/.well-known/agent.json',
      'https://x.example/.well-known/a2a-agent-card.json',
      'https://x.example/api/a2a/agent-card.json',
      'https://x.example/',
    ]);
  });

  it('beside the call address belong to the same agent; at the root of the host they may belong to another', () => {
    const places = cardLocations(new URL('https://x.example/team/a2a/jsonrpc'));
    expect(places.filter(({ base }) => base === 'https://x.example/team').every(({ mustName }) => !mustName)).toBe(true);
    expect(places.filter(({ base }) => base === 'https://x.example').every(({ mustName }) => mustName)).toBe(true);
  });

  it('are the address itself if it is the card’s own', () => {
    expect(cardLocations(new URL('https://x.example/team/.well-known/agent.json'))).toEqual([
      { cardUrl: 'https://x.example/team/.well-known/agent.json', base: 'https://x.example/team', mustName: false },
    ]);
  });
});

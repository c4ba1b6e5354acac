import { describe, expect, it } from 'vitest';
import { DEFAULT_ENGINE_LIMITS } from '#engine';
import { DEFAULT_SERVER_LIMITS } from '../limits.ts';
import type { ParleyConfig } from './config.ts';
import type { Key } from './key.ts';
import { KEYS } from './keys.ts';
import { resolveConfig, type Settings } from './resolve.ts';
import { suggest } from './suggest.ts';
import { ConfigError } from './values.ts';

const file = (config: unknown) => ({ path: 'parley.config.json', config: config as ParleyConfig });

/** Two values of each type that are none of the defaults, as text and as JSON. */
function samples({ type, name }: Key): readonly [text: string, value: unknown][] {
  switch (type.kind) {
    case 'number':
      return [
        ['1234', 1234],
        ['77', 77],
      ];
    case 'boolean':
      return [
        ['true', true],
        ['off', false],
      ];
    case 'list':
      return [
        ['a.example, b.example', ['a.example', 'b.example']],
        ['c.example', ['c.example']],
      ];
    case 'agents':
      return [
        ['echo,script', ['echo', 'script']],
        ['echo', ['echo']],
      ];
    case 'remotes':
    case 'launches':
      return [];
    case 'text':
      if (type.oneOf !== undefined) return type.oneOf.map((one): [string, unknown] => [one, one]).slice(0, 2);
      if (type.form === 'url')
        return [
          ['https://a.example', 'https://a.example'],
          ['http://b.example/x', 'http://b.example/x'],
        ];
      if (type.form === 'secret') return ['a', 'b'].map((letter): [string, unknown] => [letter.repeat(32), letter.repeat(32)]);
      return [
        [`${name}.example`, `${name}.example`],
        ['other.example', 'other.example'],
      ];
  }
}

function settingOf(settings: Settings, { name, means }: Key): unknown {
  const place = means ?? name;
  if (place.startsWith('limits.')) return (settings.limits as Record<string, unknown>)[place.slice(7)];
  const path = place === 'a2a.enabled' ? ['enabled'] : place.split('.');
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], settings);
}

function nested(name: string, value: unknown): object {
  return name.split('.').reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as object;
}

describe('every key', () => {
  for (const key of KEYS.filter(({ type }) => type.kind !== 'remotes' && type.kind !== 'launches')) {
    it(`${key.name} is read from each layer, the stronger over the weaker`, () => {
      const [[text = '', value] = [], [weaker = '', less] = []] = samples(key);
      expect(settingOf(resolveConfig({ file: file(nested(key.name, value)) }), key)).toEqual(value);
      for (const name of key.env) {
        expect(settingOf(resolveConfig({ env: { [name]: text } }), key)).toEqual(value);
        expect(settingOf(resolveConfig({ env: { [name]: text }, file: file(nested(key.name, less)) }), key)).toEqual(value);
      }
      if (key.flag === undefined) return;
      const flag = key.type.kind === 'boolean' ? true : key.type.kind === 'list' ? [text] : text;
      const flagged = key.type.kind === 'boolean' ? (key.flagMeans ?? true) : value;
      const flags = new Map([[key.name, flag]]);
      const env = Object.fromEntries(key.env.map((name) => [name, key.type.kind === 'boolean' ? String(!flagged) : weaker]));
      expect(settingOf(resolveConfig({ flags, env }), key)).toEqual(flagged);
    });

    it(`${key.name} says where a wrong value stands`, () => {
      if (key.type.kind === 'text' && key.type.oneOf === undefined && key.type.form === undefined) {
        expect(() => resolveConfig({ file: file(nested(key.name, 5)) })).toThrow(`parley.config.json: ${key.name}: 5 is not a text`);
        return;
      }
      expect(() => resolveConfig({ file: file(nested(key.name, { not: 'this' })) })).toThrow(`parley.config.json: ${key.name}: `);
      if (key.type.kind === 'list' || key.type.kind === 'agents') return;
      for (const name of key.env) expect(() => resolveConfig({ env: { [name]: 'no such thing' } })).toThrow(`${name}: `);
    });

    it(`${key.name} is described`, () => {
      expect(key.doc).toMatch(/^[A-Z`].*\.$/);
      expect(key.doc.length).toBeLessThan(200);
    });
  }

  it('has a name, a variable and a flag of its own', () => {
    for (const names of [KEYS.map(({ name }) => name), KEYS.flatMap(({ env }) => env), KEYS.flatMap(({ flag }) => flag ?? [])]) {
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it('of the limits is one of the limits, with its default', () => {
    const limits = Object.fromEntries(KEYS.filter(({ name }) => name.startsWith('limits.')).map((key) => [key.name.slice(7), key.default]));
    expect(limits).toEqual({ ...DEFAULT_SERVER_LIMITS, ...DEFAULT_ENGINE_LIMITS });
    expect(Object.keys(limits).length).toBe(Object.keys(DEFAULT_SERVER_LIMITS).length + Object.keys(DEFAULT_ENGINE_LIMITS).length);
  });
});

describe('defaults', () => {
  it('are those of the design', () => {
    expect(resolveConfig({})).toMatchObject({
      agents: ['demo'],
      port: 41_242,
      host: '127.0.0.1',
      memory: false,
      auth: true,
      limits: {},
      enabled: true,
      remoteAgents: {},
    });
  });
});

describe('the block of reference/seeds/004', () => {
  const seed = {
    a2a: {
      enabled: true,
      server: { port: 3000, bindAddress: '0.0.0.0' },
      remoteAgents: {
        'partner-bot': {
          endpoint: 'https://partner.example.com',
          agentCardUrl: 'https://partner.example.com/.well-known/agent-card.json',
          authToken: 'sk-...',
          timeout: 60_000,
        },
      },
    },
  };

  it('is taken as it stands', () => {
    const settings = resolveConfig({ file: file(seed) });
    expect([settings.port, settings.host, settings.enabled]).toEqual([3000, '0.0.0.0', true]);
    expect(settings.remoteAgents).toEqual(seed.a2a.remoteAgents);
  });

  it('gives way to our own names', () => {
    expect(resolveConfig({ file: file({ ...seed, port: 4000 }) }).port).toBe(4000);
    expect(resolveConfig({ file: file(seed), env: { PORT: '5000' } }).port).toBe(5000);
    expect(resolveConfig({ env: { PORT: '5000', PARLEY_PORT: '6000' } }).port).toBe(6000);
  });

  it('has constants, in the file and in the environment', () => {
    const constants = { MAX_TASKS: 10, MAX_CONTEXTS: 20, TASK_TTL_MS: 30, IDLE_CLEANUP_INTERVAL_MS: 40 };
    const limits = { runningTasksMax: 10, openContextsMax: 20, finishedMsMax: 30, sweepMs: 40 };
    expect(resolveConfig({ file: file({ a2a: constants }) }).limits).toEqual(limits);
    const env = Object.fromEntries(Object.entries(constants).map(([name, value]) => [name, String(value)]));
    expect(resolveConfig({ env }).limits).toEqual(limits);
  });

  it('has remote agents that are checked', () => {
    const remote = (agent: unknown) => () => resolveConfig({ file: file({ a2a: { remoteAgents: { x: agent } } }) });
    expect(remote({})).toThrow('a2a.remoteAgents.x.endpoint: must be an address');
    expect(remote({ endpoint: 'https://x.example', timeout: '1s' })).toThrow('a2a.remoteAgents.x.timeout: must be a number');
    expect(remote({ endpoint: 'https://x.example', tokn: 'x' })).toThrow('a2a.remoteAgents.x.tokn: there is no such key');
    expect(remote('https://x.example')).toThrow('a2a.remoteAgents.x: must be an object');
  });
});

describe('a key that does not exist', () => {
  it('is an error that says what was probably meant', () => {
    const wrong = (config: object) => () => resolveConfig({ file: file(config) });
    expect(wrong({ prot: 1 })).toThrow('there is no key prot; did you mean port?');
    expect(wrong({ limits: { bodyByteMax: 1 } })).toThrow('there is no key limits.bodyByteMax; did you mean limits.bodyBytesMax?');
    expect(wrong({ a2a: { server: { prt: 1 } } })).toThrow('did you mean a2a.server.port?');
    expect(wrong({ somethingElseEntirely: 1 })).toThrow(/there is no key somethingElseEntirely$/);
    expect(wrong({ limits: 5 })).toThrow('limits must be an object');
    expect(() => resolveConfig({ file: file([]) })).toThrow(ConfigError);
  });

  it('is one in the environment too, if it is nearly one of ours', () => {
    expect(() => resolveConfig({ env: { PARLEY_PROT: '1' } })).toThrow('there is no variable PARLEY_PROT; did you mean PARLEY_PORT?');
    expect(
      resolveConfig({ env: { PARLEY_SOMETHING_OF_YOURS: '1', PARLEY_FAULTS: 'full', PARLEY_LEAVE_NOTHING_OUT: '1', PATH: '' } }).port,
    ).toBe(41_242);
  });
});

describe('a suggestion', () => {
  it('is the nearest, if it is near', () => {
    expect(suggest('prt', ['port', 'host'])).toBe('port');
    expect(suggest('ECHO', ['echo'])).toBe('echo');
    expect(suggest('zzzzzz', ['port', 'host'])).toBeUndefined();
    expect(suggest('sned', ['send', 'serve'])).toBe('send');
    expect(suggest('--wat', ['--wait', '--ca'])).toBe('--wait');
  });

  it('is none where another word would be as near', () => {
    expect(suggest('tcsh', ['bash', 'zsh', 'fish'])).toBeUndefined();
    expect(suggest('--wat', ['--ca', '--json'])).toBeUndefined();
    expect(suggest('-x', ['-n', '-o'])).toBeUndefined();
    expect(suggest('', ['a'])).toBeUndefined();
  });
});

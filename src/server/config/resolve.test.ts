import { describe, expect, it } from 'vitest';
import { DEFAULT_ENGINE_LIMITS } from '#engine';
import { JWT_ALGORITHMS } from '../access/authentication/jwt.ts';
import { DEFAULT_SERVER_LIMITS } from '../limits.ts';
import { LOG_LEVELS } from '../observability/log.ts';
import { ConfigError } from './read-value.ts';
import { resolveConfig } from './resolve.ts';
import type { ParleyConfig, Setting, Settings } from './settings.ts';
import { SETTINGS } from './settings.ts';
import { suggest } from './suggest.ts';

const file = (config: unknown) => ({ path: 'parley.config.json', config: config as ParleyConfig });

/** Two values of each type, neither of them a default, as text and as JSON. */
function samples({ type, oneOf, name }: Setting): readonly [text: string, value: unknown][] {
  const same = (...texts: readonly string[]): readonly [string, unknown][] => texts.map((text) => [text, text]);
  switch (type) {
    case 'number':
      return [
        ['1234', 1234],
        ['77', 77],
      ];
    case 'count':
      return [
        ['auto', 'auto'],
        ['7', 7],
      ];
    case 'boolean':
      return [
        ['true', true],
        ['off', false],
      ];
    case 'list':
    case 'scopes':
    case 'agents':
      return [
        ['a.example, b.example', ['a.example', 'b.example']],
        ['c.example', ['c.example']],
      ];
    case 'remotes':
    case 'launches':
      return [];
    case 'choice':
      return same(...(oneOf ?? []).slice(0, 2));
    case 'url':
      return same('https://a.example', 'http://b.example/x');
    case 'secret':
      return same('a'.repeat(32), 'b'.repeat(32));
    case 'text':
    case 'domain':
      return same(`${name}.example`, 'other.example');
  }
}

function settingOf(settings: Settings, { name, sameAs = name }: Setting): unknown {
  return sameAs.split('.').reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], settings);
}

function nested(name: string, value: unknown): object {
  return name.split('.').reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as object;
}

describe('every setting', () => {
  for (const key of SETTINGS.filter(({ type }) => type !== 'remotes' && type !== 'launches')) {
    it(`${key.name} is read from each source, the stronger over the weaker`, () => {
      const [[text = '', value] = [], [weaker = '', less] = []] = samples(key);
      expect(settingOf(resolveConfig({ file: file(nested(key.name, value)) }), key)).toEqual(value);
      for (const name of key.env) {
        expect(settingOf(resolveConfig({ env: { [name]: text } }), key)).toEqual(value);
        expect(settingOf(resolveConfig({ env: { [name]: text }, file: file(nested(key.name, less)) }), key)).toEqual(value);
      }
      if (key.flag === undefined) return;
      const flag = key.type === 'boolean' ? true : key.type === 'list' || key.type === 'scopes' ? [text] : text;
      const flagged = key.type === 'boolean' ? (key.flagMeans ?? true) : value;
      const flags = new Map([[key.name, flag]]);
      const env = Object.fromEntries(key.env.map((name) => [name, key.type === 'boolean' ? String(!flagged) : weaker]));
      expect(settingOf(resolveConfig({ flags, env }), key)).toEqual(flagged);
    });

    it(`${key.name} names the place of a wrong value`, () => {
      if (key.type === 'text') {
        expect(() => resolveConfig({ file: file(nested(key.name, 5)) })).toThrow(`parley.config.json: ${key.name}: 5 is not a text`);
        return;
      }
      expect(() => resolveConfig({ file: file(nested(key.name, { not: 'this' })) })).toThrow(`parley.config.json: ${key.name}: `);
      if (['list', 'scopes', 'agents'].includes(key.type)) return;
      for (const name of key.env) expect(() => resolveConfig({ env: { [name]: 'no such thing' } })).toThrow(`${name}: `);
    });

    it(`${key.name} has one or two sentences of documentation`, () => {
      expect(key.doc).toMatch(/^[A-Z`].*\.$/);
      expect(key.doc.length).toBeLessThan(200);
    });
  }

  it('has a name, a variable and a flag of its own', () => {
    for (const names of [
      SETTINGS.map(({ name }) => name),
      SETTINGS.flatMap(({ env }) => env),
      SETTINGS.flatMap(({ flag }) => flag ?? []),
    ]) {
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it('has only known members in its declaration', () => {
    const known = [
      ...[
        'type',
        'default',
        'oneOf',
        'min',
        'max',
        'flag',
        'flagMeans',
        'flagDoc',
        'placeholder',
        'alsoEnv',
        'isFileOnly',
        'sameAs',
        'doc',
      ],
      ...['appliedBy', 'name', 'group', 'env'],
    ];
    for (const setting of SETTINGS) expect(known, setting.name).toEqual(expect.arrayContaining(Object.keys(setting)));
  });

  it('has the choices and defaults of the code that uses it', () => {
    const declared = (name: string) => SETTINGS.find((setting) => setting.name === name);
    expect(declared('log')?.oneOf).toEqual(LOG_LEVELS);
    expect(declared('jwt.algorithms')?.default).toEqual(JWT_ALGORITHMS);
    for (const { name, type, oneOf } of SETTINGS) expect(oneOf !== undefined, name).toBe(type === 'choice');
    for (const { sameAs } of SETTINGS) if (sameAs !== undefined) expect(declared(sameAs), sameAs).toBeDefined();
  });

  it('of the limits is one of the limits, with its default', () => {
    const limits = Object.fromEntries(
      SETTINGS.filter(({ name }) => name.startsWith('limits.')).map((key) => [key.name.slice(7), key.default]),
    );
    expect(limits).toEqual({ ...DEFAULT_SERVER_LIMITS, ...DEFAULT_ENGINE_LIMITS });
    expect(Object.keys(limits).length).toBe(Object.keys(DEFAULT_SERVER_LIMITS).length + Object.keys(DEFAULT_ENGINE_LIMITS).length);
  });
});

describe('defaults', () => {
  it('apply where no source has a value', () => {
    expect(resolveConfig({})).toMatchObject({
      agents: ['demo'],
      port: 41_242,
      host: '127.0.0.1',
      memory: false,
      auth: true,
      limits: {},
      a2a: { enabled: true, remoteAgents: {} },
    });
  });
});

describe('the block of CortexPrism', () => {
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

  it('is accepted unchanged', () => {
    const settings = resolveConfig({ file: file(seed) });
    expect([settings.port, settings.host, settings.a2a.enabled]).toEqual([3000, '0.0.0.0', true]);
    expect(settings.a2a.remoteAgents).toEqual(seed.a2a.remoteAgents);
  });

  it('is overridden by our own names', () => {
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
    expect(remote({})).toThrow('a2a.remoteAgents.x.endpoint: must be a URL');
    expect(remote({ endpoint: 'https://x.example', timeout: '1s' })).toThrow('a2a.remoteAgents.x.timeout: must be a number');
    expect(remote({ endpoint: 'https://x.example', tokn: 'x' })).toThrow('a2a.remoteAgents.x.tokn: there is no such key');
    expect(remote('https://x.example')).toThrow('a2a.remoteAgents.x: must be an object');
  });
});

describe('a key that does not exist', () => {
  it('is an error that suggests a known key', () => {
    const wrong = (config: object) => () => resolveConfig({ file: file(config) });
    expect(wrong({ prot: 1 })).toThrow('there is no key prot; did you mean port?');
    expect(wrong({ limits: { bodyByteMax: 1 } })).toThrow('there is no key limits.bodyByteMax; did you mean limits.bodyBytesMax?');
    expect(wrong({ a2a: { server: { prt: 1 } } })).toThrow('did you mean a2a.server.port?');
    expect(wrong({ somethingElseEntirely: 1 })).toThrow(/there is no key somethingElseEntirely$/);
    expect(wrong({ limits: 5 })).toThrow('limits must be an object');
    expect(() => resolveConfig({ file: file([]) })).toThrow(ConfigError);
  });

  it('is an error in the environment too, if it is close to a known variable', () => {
    expect(() => resolveConfig({ env: { PARLEY_PROT: '1' } })).toThrow('there is no variable PARLEY_PROT; did you mean PARLEY_PORT?');
    expect(
      resolveConfig({ env: { PARLEY_SOMETHING_OF_YOURS: '1', PARLEY_FAULTS: 'full', PARLEY_LEAVE_NOTHING_OUT: '1', PATH: '' } }).port,
    ).toBe(41_242);
  });
});

describe('a suggestion', () => {
  it('is the nearest name, if it is near enough', () => {
    expect(suggest('prt', ['port', 'host'])).toBe('port');
    expect(suggest('ECHO', ['echo'])).toBe('echo');
    expect(suggest('zzzzzz', ['port', 'host'])).toBeUndefined();
    expect(suggest('sned', ['send', 'serve'])).toBe('send');
    expect(suggest('--wat', ['--wait', '--ca'])).toBe('--wait');
  });

  it('is undefined if the names differ too much', () => {
    expect(suggest('tcsh', ['bash', 'zsh', 'fish'])).toBeUndefined();
    expect(suggest('--wat', ['--ca', '--json'])).toBeUndefined();
    expect(suggest('-x', ['-n', '-o'])).toBeUndefined();
    expect(suggest('', ['a'])).toBeUndefined();
  });
});

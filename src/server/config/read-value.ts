import type { Json } from '#protocol';
import { isObject } from '#protocol';
import type { SettingDeclaration } from './setting.ts';

/** A setting is wrong. The message starts with the place of the mistake. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError';
}

/**
 * Reads a value from the environment or a flag, where everything is text. `where` names the place in
 * errors.
 */
export function readTextValue(text: string, declared: SettingDeclaration, where: string): unknown {
  switch (declared.type) {
    case 'number':
    case 'count':
      return readFileValue(/^\d+$/.test(text.trim()) ? Number(text) : text, declared, where);
    case 'boolean':
      if (TRUE.has(text.toLowerCase())) return true;
      if (FALSE.has(text.toLowerCase())) return false;
      throw new ConfigError(`${where}: ${shown(text)} is neither true nor false`);
    case 'list':
    case 'scopes':
    case 'agents':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
    case 'remotes':
    case 'launches':
      throw new ConfigError(`${where}: belongs in a configuration file`);
    default:
      return readFileValue(text, declared, where);
  }
}

const TRUE: ReadonlySet<string> = new Set(['1', 'true', 'yes', 'on']);
const FALSE: ReadonlySet<string> = new Set(['0', 'false', 'no', 'off', '']);

/** Reads a value from the configuration file, where JSON has types of its own. */
export function readFileValue(value: unknown, declared: SettingDeclaration, where: string): unknown {
  switch (declared.type) {
    case 'number':
      return checkNumber(value, declared, where);
    case 'count':
      return value === 'auto' ? value : checkNumber(value, declared, where);
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw new ConfigError(`${where}: ${shown(value)} is neither true nor false`);
    case 'list':
    case 'scopes':
      if (isTexts(value)) return value;
      throw new ConfigError(`${where}: must be a list of texts`);
    case 'agents':
      if (Array.isArray(value) && value.every(isAgentLike)) return value;
      throw new ConfigError(`${where}: must be a list of names, files and agents`);
    case 'remotes':
      return checkRemotes(value, where);
    case 'launches':
      return checkLaunches(value, where);
    case 'secret':
      return checkSecret(value, where);
    default:
      return checkText(value, declared, where);
  }
}

function checkNumber(value: unknown, { type, min = 0, max = Number.MAX_SAFE_INTEGER }: SettingDeclaration, where: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new ConfigError(`${where}: ${shown(value)} is not a whole number ${range}${type === 'count' ? ', or auto' : ''}`);
}

/** Checks a text against the choices and the form of its type. */
function checkText(value: unknown, { type, oneOf }: SettingDeclaration, where: string): string {
  if (typeof value !== 'string' || value === '') throw new ConfigError(`${where}: ${shown(value)} is not a text`);
  if (oneOf !== undefined && !oneOf.includes(value)) throw new ConfigError(`${where}: ${shown(value)} is not one of ${oneOf.join(', ')}`);
  if (type === 'url' && !isPlainUrl(value)) {
    throw new ConfigError(`${where}: ${shown(value)} is not an http(s) URL without user, query or fragment`);
  }
  if (type === 'domain' && !/^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(value)) {
    throw new ConfigError(`${where}: ${shown(value)} is not a domain, as agents.example.org`);
  }
  return value;
}

/** Error messages never include the secret. */
function checkSecret(value: unknown, where: string): string {
  if (typeof value === 'string' && /^[\w.~+/=-]{32,4096}$/.test(value)) return value;
  throw new ConfigError(`${where}: must have at least 32 characters: letters, digits, and . _ ~ + / = - only; try: openssl rand -hex 32`);
}

function isPlainUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === '';
}

const REMOTE_MEMBERS: Readonly<Record<string, 'string' | 'number'>> = {
  endpoint: 'string',
  agentCardUrl: 'string',
  authToken: 'string',
  timeout: 'number',
};

/** Checks the remote agents of CortexPrism's block. */
function checkRemotes(value: unknown, where: string): unknown {
  if (!isObject(value)) throw new ConfigError(`${where}: must be an object of agents by name`);
  for (const [name, agent] of Object.entries(value)) {
    const at = `${where}.${name}`;
    if (!isObject(agent)) throw new ConfigError(`${at}: must be an object`);
    for (const [member, content] of Object.entries(agent)) {
      const type = REMOTE_MEMBERS[member];
      if (type === undefined)
        throw new ConfigError(`${at}.${member}: there is no such key; known are ${Object.keys(REMOTE_MEMBERS).join(', ')}`);
      if (typeof content !== type) throw new ConfigError(`${at}.${member}: must be a ${type}`);
    }
    if (typeof agent['endpoint'] !== 'string' || !isPlainUrl(agent['endpoint'])) throw new ConfigError(`${at}.endpoint: must be a URL`);
  }
  return value;
}

const LAUNCH_LISTS = ['argv', 'environment', 'homePaths', 'projectConfig'];

/** Checks how programs are started. */
function checkLaunches(value: unknown, where: string): unknown {
  if (!isObject(value)) throw new ConfigError(`${where}: must be an object of launches by name`);
  for (const [name, launch] of Object.entries(value)) {
    const at = `${where}.${name}`;
    if (!isObject(launch)) throw new ConfigError(`${at}: must be an object`);
    for (const [member, content] of Object.entries(launch)) checkLaunchMember(member, content, `${at}.${member}`);
    if (!Array.isArray(launch['argv']) || launch['argv'].length === 0) throw new ConfigError(`${at}.argv: must name a program`);
  }
  return value;
}

function checkLaunchMember(member: string, content: unknown, at: string): void {
  if (member === 'title') {
    if (typeof content !== 'string') throw new ConfigError(`${at}: must be a text`);
    return;
  }
  if (!LAUNCH_LISTS.includes(member)) throw new ConfigError(`${at}: there is no such key; known are ${LAUNCH_LISTS.join(', ')}, title`);
  if (!isTexts(content)) throw new ConfigError(`${at}: must be a list of texts`);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isAgentLike(value: unknown): boolean {
  return typeof value === 'string' || (isObject(value) && 'card' in value && ('run' in value || 'service' in value));
}

function shown(value: unknown): string {
  return JSON.stringify(value as Json)?.slice(0, 60) ?? String(value);
}

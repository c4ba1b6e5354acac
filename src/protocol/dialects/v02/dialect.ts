import type { Confidence, Dialect } from '../dialect.ts';
import type { Codes } from '../shared/errors.ts';
import type { Raw } from '../shared/read.ts';
import { isRaw } from '../shared/read.ts';
import { CODES } from '../v03/codes.ts';
import { kindDialect } from '../v03/kind-dialect.ts';
import type { Patch, Release } from './releases.ts';
import { NEWEST_RELEASE, OLDER_RELEASES } from './releases.ts';

/** The newest release whose cards have no version. */
const NEWEST_WITHOUT_VERSION: Patch = 4;
const NEWEST: Patch = 6;

/** 0.2's codes end at -32006. It has no method for the extended card, so no code for a missing one. */
const V02_CODES: Codes = { ...CODES, EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32004 };

/**
 * 0.2 is a subset of 0.3 (docs/dialects/v02.md). Its requests look like 0.3's, so it is chosen by a card,
 * a mount, or the dialect in which the task was made. By method name alone, 0.3 comes first in the
 * registry.
 */
function build(own: Release): Dialect {
  const { patch } = own;
  const dialect: Dialect = kindDialect({
    id: patch === NEWEST ? 'v02' : `v02.${patch}`,
    title: `A2A 0.2.${patch}`,
    without: own.without,
    losses: own.losses,
    taskId: 'id',
    codes: V02_CODES,
    card: {
      ...(own.cardSaysVersion ? { protocolVersion: `0.2.${patch}` } : {}),
      interfaceVersion: '0.2',
      transports: own.transports,
      detect: (raw) => detectCard(raw, patch),
    },
    detect: ({ method }) => (method !== undefined && dialect.operationOf(method) !== undefined ? 'grammar' : 'no'),
    traits: {},
    wire: own.extensionsHeader ? {} : { extensionsHeader: undefined },
  });
  return dialect;
}

const VERSION = /^0\.2(?:\.(\d+)|$)/;

/**
 * Recognises a card by its `protocolVersion`. Releases before that member are recognised by their
 * shape.
 */
function detectCard(raw: Raw, patch: Patch): Confidence {
  if (typeof raw.protocolVersion !== 'string') return patch === NEWEST_WITHOUT_VERSION && looksLike02(raw) ? 'grammar' : 'no';
  const version = VERSION.exec(raw.protocolVersion);
  if (version === null) return 'no';
  // A patch number that was never released is read as the newest release.
  return Math.min(Number(version[1] ?? NEWEST), NEWEST) === patch ? 'shape' : 'no';
}

/**
 * For cards without a version: what 0.2 requires and 0.1 does not, which are media types and skills
 * with descriptions and tags.
 */
function looksLike02(raw: Raw): boolean {
  if (raw.authentication !== undefined || raw.interfaces !== undefined) return false;
  const modes: unknown = raw.defaultInputModes;
  if (!Array.isArray(modes) || !modes.some((mode: unknown) => typeof mode === 'string' && mode.includes('/'))) return false;
  return (
    Array.isArray(raw.skills) && raw.skills.every((skill: unknown) => isRaw(skill) && Array.isArray(skill.tags) && 'description' in skill)
  );
}

/** A2A 0.2.6, the last release of 0.2. */
export const v02: Dialect = build(NEWEST_RELEASE);

/** The releases before 0.2.6, newest first. */
export const v02Releases: readonly Dialect[] = OLDER_RELEASES.map(build);

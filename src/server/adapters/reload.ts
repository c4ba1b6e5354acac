import { isDeepStrictEqual } from 'node:util';
import { isObject } from '#protocol';
import type { AuthMethod } from '../access/authentication/auth-method.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Settings } from '../config/settings.ts';
import { SETTINGS } from '../config/settings.ts';
import type { AccessFromSettings } from './access-settings.ts';
import type { NodeServer } from './node.ts';

/** What a reload of the configuration has found. Names of settings only, never their values. */
export interface ReloadReport {
  /** Changed settings that are in effect now. */
  readonly applied: readonly string[];
  /** Changed settings that a restart applies. */
  readonly needRestart: readonly string[];
  /** The files of the certificate have changed. New connections get the new one. */
  readonly certificateChanged: boolean;
}

/** The names of settings whose values differ. */
export function changedSettings(before: Settings, after: Settings): Omit<ReloadReport, 'certificateChanged'> {
  const changed = SETTINGS.filter(({ name, sameAs }) => sameAs === undefined && !isSame(settingIn(before, name), settingIn(after, name)));
  const named = (by: 'reload' | 'restart'): readonly string[] =>
    changed.filter(({ appliedBy }) => appliedBy === by).map(({ name }) => name);
  return { applied: named('reload'), needRestart: named('restart') };
}

function settingIn(settings: Settings, name: string): unknown {
  return name.split('.').reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), settings);
}

/** Agents of a configuration module are other objects after each load, so they are compared by their cards. */
function isSame(before: unknown, after: unknown): boolean {
  return isDeepStrictEqual(comparable(before), comparable(after));
}

function comparable(value: unknown): unknown {
  return Array.isArray(value) ? value.map((item: unknown) => (isObject(item) && 'card' in item ? item['card'] : item)) : value;
}

/** Ways to authenticate that can be replaced while the node serves. */
export interface ReplaceableAuth {
  /** For the node. Each passes requests on to the current method. */
  readonly methods: readonly AuthMethod[];
  /** Takes methods of the same kinds, in the same order: the cards declare those of the start. Others are ignored. */
  replace(methods: readonly AuthMethod[]): void;
}

/** The methods of the start, each with a replacement later. */
export function replaceableAuth(methods: readonly AuthMethod[]): ReplaceableAuth {
  let current = methods;
  return {
    methods: methods.map((method, at) => ({
      ...method,
      authenticate: (request) => (current[at] ?? method).authenticate(request),
    })),
    replace: (next) => {
      if (next.length === methods.length && next.every(({ name }, at) => name === methods[at]?.name)) current = next;
    },
  };
}

/** What a reload needs of a running node. */
export interface ReloadParts {
  /** As the node was started. */
  readonly settings: Settings;
  readonly secured: AccessFromSettings;
  readonly auth: ReplaceableAuth | undefined;
  readonly served: Pick<NodeServer, 'replaceTls' | 'url'>;
  readonly audit: AuditLog | undefined;
  /** Reads the files of certificates and keys again. Throws if the settings are not safe. */
  readonly access: (settings: Settings) => AccessFromSettings;
}

/** Applies changed settings to a running node. Throws before it changes anything if the new ones are wrong. */
export function createReload({ settings, secured, auth, served, audit, access }: ReloadParts): (next: Settings) => ReloadReport {
  let current = settings;
  let { tls } = secured;
  return (next) => {
    const fresh = access(next);
    const certificateChanged = tls !== undefined && fresh.tls !== undefined && !isDeepStrictEqual(tls, fresh.tls);
    if (certificateChanged && fresh.tls !== undefined) {
      served.replaceTls(fresh.tls);
      tls = fresh.tls;
    }
    auth?.replace(fresh.auth ?? []);
    const { applied } = changedSettings(current, next);
    current = next;
    audit?.append({ principal: '', action: 'server.reload', object: served.url, decision: 'allowed', reason: applied.join(', ') });
    return { applied, needRestart: changedSettings(settings, next).needRestart, certificateChanged };
  };
}

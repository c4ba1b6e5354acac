import { ConfigError } from '../../config/read-value.ts';
import type { Settings } from '../../config/settings.ts';

/** Where other replicas reach this one. */
export interface LinkPlace {
  /** As others use it: an IPv6 address is in brackets. */
  readonly shown: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Reads the setting `advertise`. Throws a ConfigError that says what to type. */
export function linkPlaceOf(advertise = '127.0.0.1'): LinkPlace {
  const [, shown = '', port = '0'] = /^([^:/@\s]+|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i.exec(advertise) ?? [];
  if (shown === '' || Number(port) > 65_535)
    throw new ConfigError(`advertise must be HOST or HOST:PORT, as 10.0.0.5 or 10.0.0.5:7000, and not ${JSON.stringify(advertise)}`);
  const host = shown.replace(/^\[|\]$/g, '');
  if (isWildcard(host))
    throw new ConfigError(
      `advertise must name one address of this machine that other nodes can reach, as 10.0.0.5: ${shown} stands for all of its addresses`,
    );
  return { shown, host, port: Number(port) };
}

/** `0.0.0.0`, `::` and their other spellings. On another machine they lead to that machine itself. */
function isWildcard(host: string): boolean {
  return /^0+(?:\.0+){0,3}$/.test(host) || (host.includes(':') && /^[0:.]+$/.test(host));
}

/** Throws a ConfigError before anything is opened. Returns the settings. */
export function checkLink(settings: Settings): Settings {
  const { store, advertise } = settings;
  if (advertise !== undefined && store === undefined)
    throw new ConfigError(
      'advertise works with a Postgres database only: other nodes reach this one for its tasks there. Remove it, or set store',
    );
  linkPlaceOf(advertise);
  return settings;
}

/** Why the listener for other nodes can't be opened, and what to type. */
export function whyNoListener(thrown: unknown): string {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : '';
  if (code === 'EADDRINUSE') return `${why}. Stop the other process, or name another port with --advertise HOST:PORT`;
  if (code === 'EACCES') return `${why}. Name a port from 1024 on with --advertise HOST:PORT`;
  return `${why}. Name an address of this machine with --advertise`;
}

import { userInfo } from 'node:os';
import type { Fetch } from '#protocol';
import type { KeyRecord } from '../access/authentication/api-keys.ts';
import { keyAuth, tokenAuth } from '../access/authentication/api-keys.ts';
import type { AuthMethod } from '../access/authentication/auth-method.ts';
import type { Authenticate } from '../access/authentication/caller.ts';
import { authenticateAsLocal } from '../access/authentication/caller.ts';
import { jwtAuth } from '../access/authentication/jwt.ts';
import { mutualTls } from '../access/authentication/mtls.ts';
import { isPrivate } from '../access/exposure.ts';
import { ConfigError } from '../config/read-value.ts';
import type { Settings } from '../config/settings.ts';
import { hasActiveKey, openKeyRing } from './api-keys-file.ts';
import { localUserAuth } from './local-users.ts';
import type { TlsOptions } from './node/tls.ts';
import { readTls } from './node/tls.ts';
import type { NodeToken } from './secret-files.ts';
import { authFolder, loadToken, sameSecret } from './secret-files.ts';
import type { SharedKeyRing } from './shared-keys.ts';

/** Authentication and TLS of a node, as its settings and its agents require them. */
export interface AccessFromSettings {
  readonly auth?: readonly AuthMethod[];
  readonly authenticate?: Authenticate;
  readonly tls?: TlsOptions;
  /** The token of this machine, if callers may use it. */
  readonly token?: NodeToken;
}

/** What `accessFromSettings` needs beside the settings. */
export interface AccessSettingsOptions {
  /** The name of an agent that runs commands, if there is one. */
  readonly runsCommands: string | undefined;
  /** The name of a proxied agent that is called with a credential of this node, if there is one. */
  readonly lendsCredential?: string | undefined;
  /** Fetches the issuer's keys. */
  readonly fetch: Fetch;
  /** Called after each fetch of the issuer's keys, with the cause if it failed. */
  readonly onIssuer?: (cause: unknown) => void;
  /** The keys that all nodes on a database share. Absent: they are in files. */
  readonly keys?: SharedKeyRing | undefined;
  /** Called when the key file has changed. */
  readonly onKeys?: (before: readonly KeyRecord[], after: readonly KeyRecord[]) => void;
  /** Called after each attempt to read the key file, with the cause if it failed. */
  readonly onKeyFile?: (cause: unknown) => void;
}

/**
 * Decides how callers are authenticated. Throws a ConfigError that names the flags to use if the
 * settings are not safe.
 */
export function accessFromSettings(settings: Settings, options: AccessSettingsOptions): AccessFromSettings {
  const tls = tlsOf(settings);
  const secured = tls === undefined ? {} : { tls };
  if (!settings.auth) return { ...secured, ...openly(settings, options) };
  const alone = isPrivate(settings.host, settings.socket);
  checkTrust(settings, alone);
  const { runsCommands, lendsCredential } = options;
  const isConfigured = settings.token !== undefined || settings.jwt.issuer !== undefined || settings.tls.ca !== undefined;
  const isHarmless = runsCommands === undefined && lendsCredential === undefined;
  if (alone && isHarmless && !settings.authRequired && !isConfigured) return secured;
  const folder = authFolder(settings.authFolder);
  if (!alone)
    checkExposed(settings, {
      isConfigured: isConfigured || (options.keys?.hasActive() ?? hasActiveKey(folder)),
      hasTls: tls !== undefined,
    });
  const token = alone && settings.token === undefined ? loadToken(folder) : undefined;
  return {
    ...secured,
    auth: methodsOf(settings, { ...options, folder, token: settings.token ?? token?.token }),
    ...(token === undefined ? {} : { token }),
  };
}

/** Local users are recognised by their connection, which has to be their own and on loopback. */
function checkTrust({ trustLocalUsers, socket, insecureBehindProxy, trustedProxies }: Settings, alone: boolean): void {
  if (!trustLocalUsers) return;
  const problem =
    process.platform !== 'linux'
      ? 'it works on Linux only. Use --socket ./parley.sock --no-auth, or the token'
      : !alone || socket !== undefined
        ? 'it works on loopback only. Remove --host and --socket'
        : insecureBehindProxy || trustedProxies.length > 0
          ? 'a proxy makes every connection look like its own user’s. Remove the proxy settings'
          : undefined;
  if (problem !== undefined) throw new ConfigError(`--trust-local-users: ${problem}`);
}

/** The result for `--no-auth`. */
function openly({ host, socket, token, jwt, tls, authRequired }: Settings, { runsCommands }: AccessSettingsOptions): AccessFromSettings {
  if (!isPrivate(host, socket)) {
    throw new ConfigError(`other machines can reach ${host}: --no-auth works on loopback and sockets only`);
  }
  const besides = authRequired ? 'authRequired' : token !== undefined ? 'token' : jwt.issuer !== undefined ? 'jwt.issuer' : undefined;
  const asked = besides ?? (tls.ca === undefined ? undefined : 'tls.ca');
  if (asked !== undefined) throw new ConfigError(`--no-auth and ${asked} exclude each other: remove one of them`);
  if (runsCommands === undefined) return {};
  // The file system authenticates callers: only the owner can open the socket.
  if (socket !== undefined) return { authenticate: authenticateAsLocal };
  throw new ConfigError(
    `${runsCommands} runs commands on this machine, so every caller needs a token, on loopback too. Remove --no-auth (parley’s own commands find the token by themselves), or type: --socket ./parley.sock --no-auth`,
  );
}

interface Exposed {
  readonly isConfigured: boolean;
  readonly hasTls: boolean;
}

/** Throws if other machines can reach the node without authentication or without TLS. */
function checkExposed({ host, insecureBehindProxy }: Settings, { isConfigured, hasTls }: Exposed): void {
  const missing: string[] = [];
  if (!isConfigured) missing.push('authentication: parley keys create NAME (or --jwt-issuer and --jwt-audience, or --tls-ca)');
  if (!hasTls && !insecureBehindProxy) {
    missing.push('TLS: --tls-cert FILE --tls-key FILE (or --insecure-behind-proxy, if a proxy in front of it has TLS)');
  }
  if (missing.length > 0) throw new ConfigError(`other machines can reach ${host}, which requires ${missing.join('; and ')}`);
}

interface Methods extends AccessSettingsOptions {
  readonly folder: string;
  readonly token: string | undefined;
}

/** The ways to authenticate, in the order in which they are tried. */
function methodsOf(
  { jwt, tls, trustLocalUsers }: Settings,
  { folder, token, fetch, keys, onKeys, onKeyFile, onIssuer }: Methods,
): readonly AuthMethod[] {
  const methods: AuthMethod[] = [];
  if (token !== undefined) methods.push(tokenAuth(sameSecret(token)));
  methods.push(keyAuth(keys ?? openKeyRing(folder, { onChange: onKeys, onRead: onKeyFile })));
  if (jwt.issuer !== undefined) methods.push(jwtFrom({ ...jwt, issuer: jwt.issuer, fetch, onFetched: onIssuer }));
  if (tls.ca !== undefined) methods.push(mutualTls(tls));
  if (trustLocalUsers) methods.push(localUserAuth(userInfo().uid));
  return methods;
}

/** Turns errors of the options into errors that name the setting. */
function jwtFrom(options: Parameters<typeof jwtAuth>[0]): AuthMethod {
  if (options.audience.length === 0) {
    throw new ConfigError(
      'jwt.issuer needs jwt.audience: without one, tokens for any other service would be accepted. Type: --jwt-audience NAME',
    );
  }
  try {
    return jwtAuth(options);
  } catch (thrown) {
    throw new ConfigError(`jwt: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

/** Reads the certificate files. Undefined: the node has no TLS. */
function tlsOf({ tls: { cert, key, ca }, socket }: Settings): TlsOptions | undefined {
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new ConfigError(`TLS needs both tls.cert and tls.key: ${cert === undefined ? '--tls-cert' : '--tls-key'} FILE is missing`);
  }
  if (socket !== undefined) throw new ConfigError('a socket needs no TLS: remove --socket or the --tls flags');
  return readTls({ cert, key, ca });
}

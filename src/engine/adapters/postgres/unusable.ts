const CORRECT = 'Correct the URL of the store';

/** What to do. The first pattern counts that matches the code of the system or of the server, a space and its message. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED /, 'Start the server, or correct the host and port in the URL of the store.'],
  [/^ENOTFOUND /, `${CORRECT}: there is no such host.`],
  [/^EAI_AGAIN /, `${CORRECT}: the host is not known now.`],
  [/^28P01 /, `${CORRECT}: postgres://USER:PASSWORD@HOST/NAME.`],
  [
    /^28000 .*pg_hba\.conf/,
    'Allow this machine in pg_hba.conf of the server, or encrypt the connection with ?sslmode=verify-full in the URL.',
  ],
  [/^28000 .*not permitted to log in/, 'Allow it: ALTER ROLE USER LOGIN.'],
  [/^28000 /, `${CORRECT}, or create the role: createuser USER.`],
  [/^3D000 /, `${CORRECT}, or create the database: createdb --owner USER NAME.`],
  [/^42501 .*for database/, 'The role needs the right to create a schema in the database: GRANT CREATE ON DATABASE NAME TO USER.'],
  [/^42501 /, 'The tables belong to another role. Name that role in the URL of the store.'],
  [/^53300 /, 'A node opens up to 12 connections: raise the limit of the server (max_connections) or of the role.'],
  [/^25006 /, `${CORRECT}: this server or database is read-only, and a standby is, too.`],
  [/ The server does not support SSL/, 'Remove sslmode from the URL of the store, or switch TLS on at the server.'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID /, 'Use the host name of the certificate in the URL of the store.'],
  [
    /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT_LOCALLY)) /,
    'Name the certificate of its authority in the URL of the store: ?sslmode=verify-full&sslrootcert=FILE.',
  ],
];

/** Why a database can't be used, and what to do. */
export function whyUnusable(cause: unknown, why: string): string {
  if (/client password must be a string/.test(why)) return `the server asks for a password, and the URL has none. ${adviceOn('28P01', '')}`;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const advice = adviceOn(code, why);
  return advice === undefined ? why : `${why.trim()}. ${advice}`;
}

function adviceOn(code: string, why: string): string | undefined {
  return ADVICE.find(([pattern]) => pattern.test(`${code} ${why}`))?.[1];
}

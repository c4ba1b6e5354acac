const CORRECT = 'Correct the URL of the store';

/** What to do, by the code of the system or of the server. */
const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Start the server, or correct the host and port in the URL of the store.',
  ENOTFOUND: `${CORRECT}: there is no such host.`,
  EAI_AGAIN: `${CORRECT}: the host is not known now.`,
  '28P01': `${CORRECT}: postgres://USER:PASSWORD@HOST/NAME.`,
  '28000': `${CORRECT}, or create the role: createuser USER.`,
  '3D000': `${CORRECT}, or create the database: createdb --owner USER NAME.`,
  '42501': 'The role needs the right to create a schema in the database: GRANT CREATE ON DATABASE NAME TO USER.',
};

/** Why a database can't be used, and what to do. */
export function whyUnusable(cause: unknown, why: string): string {
  if (/client password must be a string/.test(why)) return `the server asks for a password, and the URL has none. ${ADVICE['28P01']}`;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const advice = ADVICE[code];
  return advice === undefined ? why : `${why}. ${advice}`;
}

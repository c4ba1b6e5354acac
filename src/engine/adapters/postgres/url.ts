import { percentDecoded } from '#protocol';

/** What to correct in the URL of a database. Undefined: nothing. The text never includes the URL, which may have a password. */
export function urlProblem(url: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(url)) return `store must be a URL that starts with postgres://, as ${FORM}`;
  if (SEVERAL_HOSTS.test(url)) return `store must name one host, as ${FORM}. After a failover that host must be the new primary`;
  if (URL.canParse(url)) return undefined;
  return `store is not a valid URL. Write ${FORM}, and in the password %23 for #, %2F for /, %3F for ?, %40 for @ and %25 for %`;
}

const FORM = 'postgres://USER:PASSWORD@HOST/NAME';
/** As other clients of Postgres take them: HOST:PORT,HOST:PORT. */
const SEVERAL_HOSTS = /^[a-z]+:\/\/(?:[^@/?#]*@)?[\w.-]+(?::\d+)?,[\w.:,-]+(?:[/?]|$)/;

/** The host, port and name of a database, without its user and password. */
export function placeOf(url: string): string {
  const place = new URL(url);
  return `${hostOf(place)}${place.port === '' ? '' : `:${place.port}`}${place.pathname}`;
}

/** As `pg` does: a URL without a host can name a folder with a socket, or leave the host to the environment. */
export function hostOf(
  { hostname, searchParams }: Pick<URL, 'hostname' | 'searchParams'>,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  return searchParams.get('host') || percentDecoded(hostname) || env['PGHOST'] || 'localhost';
}

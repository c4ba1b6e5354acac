import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Creates real certificates with OpenSSL. */
export interface Authority {
  readonly ca: string;
  /** Files of a certificate with these subject alternative names, signed by this authority. */
  issue(
    name: string,
    names: string /** 0: for one that was good in 2020. */,
    options?: { readonly days?: number },
  ): { readonly cert: string; readonly key: string };
}

export const hasOpenssl: boolean = spawnSync('openssl', ['version']).status === 0;

export function createAuthority(folder: string, name: string): Authority {
  const file = (kind: string): string => join(folder, `${name}.${kind}`);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  run('req', '-x509', ...key, '-keyout', file('key'), '-out', file('pem'), '-days', '2', '-subj', `/CN=${name}`);
  return {
    ca: file('pem'),
    issue: (who, names, { days = 2 } = {}) => {
      const own = (kind: string): string => join(folder, `${name}-${who}.${kind}`);
      run('req', ...key, '-keyout', own('key'), '-out', own('csr'), '-subj', `/CN=${who}`);
      writeFileSync(own('ext'), `subjectAltName=${names}\n`);
      const signer = ['-CA', file('pem'), '-CAkey', file('key'), '-CAcreateserial'];
      if (days === 0) issueInThePast(own, file);
      else run('x509', '-req', '-in', own('csr'), ...signer, '-out', own('pem'), '-days', String(days), '-extfile', own('ext'));
      return { cert: own('pem'), key: own('key') };
    },
  };
}

/** `openssl x509` of many releases can't sign into the past; `openssl ca` can. */
function issueInThePast(own: (kind: string) => string, file: (kind: string) => string): void {
  writeFileSync(own('index'), '');
  writeFileSync(own('serial'), '99\n');
  const policy = '[p]\ncommonName=supplied\n';
  writeFileSync(
    own('cnf'),
    `[ca]\ndefault_ca=d\n[d]\ndatabase=${own('index')}\nserial=${own('serial')}\nnew_certs_dir=${join(own('cnf'), '..')}\ndefault_md=sha256\npolicy=p\n${policy}`,
  );
  run(
    'ca',
    '-batch',
    '-config',
    own('cnf'),
    '-in',
    own('csr'),
    '-cert',
    file('pem'),
    '-keyfile',
    file('key'),
    '-out',
    own('pem'),
    '-startdate',
    '20200101000000Z',
    '-enddate',
    '20200201000000Z',
    '-extfile',
    own('ext'),
    '-notext',
  );
}

function run(...args: readonly string[]): void {
  execFileSync('openssl', [...args], { stdio: 'pipe' });
}

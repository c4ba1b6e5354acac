import type { Owner } from '#engine';
import { CliError } from '../command.ts';
import type { ParsedFlags } from '../flags/parse.ts';
import { textOf } from '../flags/parse.ts';

/** The caller that `--principal` and `--tenant` name. */
export function ownerOf(flags: ParsedFlags, command: string): Owner {
  const principal = textOf(flags, 'principal');
  const [more] = flags.positionals;
  if (principal === undefined || principal === '' || more !== undefined) {
    throw new CliError(more === undefined ? 'whose data?' : `${more}: name the caller with --principal`, {
      hint: `try: parley ${command} --principal NAME`,
      exit: 2,
    });
  }
  return { principal, tenant: textOf(flags, 'tenant') ?? '' };
}

/** The path of a caller in the admin API. */
export function ownerPath({ principal, tenant }: Owner): string {
  return `${tenant === '' ? '' : `/tenants/${encodeURIComponent(tenant)}`}/principals/${encodeURIComponent(principal)}`;
}

/** The name of a caller for people. */
export function ownerText({ principal, tenant }: Owner): string {
  return tenant === '' ? principal : `${principal} of ${tenant}`;
}

import { allowedEnvironment, type Environment } from '../process/environment.ts';

const SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i;
const SHORTEST = 8;

/** Removes the agent's credentials from its output: a failing program often prints its command line. */
export function redactor(env: Environment, allowed: readonly string[]): (text: string) => string {
  const given = Object.entries(allowedEnvironment(env, allowed));
  const secrets = given.filter(([name, value]) => SECRET.test(name) && value.length >= SHORTEST).map(([, value]) => value);
  return (text) => secrets.reduce((kept, secret) => kept.replaceAll(secret, '[redacted]'), text);
}

import type { AcpLaunch } from '../acp/driver.ts';
import { acpDriver } from '../acp/driver.ts';
import type { Driver } from '../run/driver.ts';

/** One way to start a coding agent. */
export interface CodingLaunch {
  /** Protocol: the Agent Client Protocol, or the CLI's own output format. */
  readonly via: 'acp' | 'native';
  /** The command, without the arguments that a request adds. */
  readonly argv: readonly string[];
  /** Whether its permission requests reach the caller. If not, it does nothing that needs one. */
  readonly asks: boolean;
  /** Creates the driver of this launch. */
  driver(): Driver;
}

/** A coding CLI that Parley can run. */
export interface CodingAgent {
  /** For the command line, for example `claude`. */
  readonly name: string;
  /** The name that people use. */
  readonly title: string;
  /** Other names for the command line. */
  readonly aliases: readonly string[];
  /** Ways to start it, the best one first. */
  readonly launches: readonly CodingLaunch[];
}

type Needs = Pick<Driver, 'environment' | 'homePaths' | 'projectConfig'>;

type AcpNeeds = Needs & Pick<AcpLaunch, 'env' | 'keepSession'>;

/** A launch by the Agent Client Protocol. */
export function acp(name: string, argv: readonly string[], { environment, homePaths, projectConfig, ...own }: AcpNeeds): CodingLaunch {
  const { env = {}, keepSession = async () => undefined } = own;
  const driver = { name, argv, environment, homePaths, projectConfig, env, keepSession };
  return { via: 'acp', argv, asks: true, driver: () => acpDriver(driver) };
}

/** A launch in the CLI's own print mode. `asks`: its permission requests reach the caller. */
export function native(argv: readonly string[], driver: Driver, asks: boolean): CodingLaunch {
  return { via: 'native', argv, asks, driver: () => driver };
}

/** An agent that is started only by the Agent Client Protocol. */
export interface AcpAgent extends Partial<Needs> {
  /** The name for `parley serve NAME`. */
  readonly name: string;
  /** The product's name, for people. */
  readonly title: string;
  /** The program and its arguments. */
  readonly argv: readonly string[];
}

const NO_NEEDS: Needs = { environment: [], homePaths: [], projectConfig: [] };

/** A coding agent with a single way to start it. */
export function acpAgent({ name, title, argv, ...needs }: AcpAgent): CodingAgent {
  return { name, title, aliases: [], launches: [acp(name, argv, { ...NO_NEEDS, ...needs })] };
}

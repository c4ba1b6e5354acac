/** An optional package that gRPC needs is not installed. Has no cause: the innermost message is the one that people see. */
export class DriverMissing extends Error {
  override readonly name = 'DriverMissing';
  readonly code = 'ERR_DRIVER_MISSING';

  constructor() {
    super('gRPC needs the package @bufbuild/protobuf: npm install @bufbuild/protobuf');
  }
}

/** Whether an import failed because a package is not installed. */
export function isMissingPackage(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND';
}

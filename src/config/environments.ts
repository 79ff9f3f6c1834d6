import { withSecretFiles } from './secret-files.js';

/**
 * Returns the environment for child processes. It omits most variables: the account that runs the child could read our
 * secrets in /proc, and PGDATA or PGPORT would configure PostgreSQL.
 */
export function environmentOfPrograms(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH, SystemRoot, TEMP, TZ } = env;
  return { PATH, LD_LIBRARY_PATH, SystemRoot, TEMP, TZ };
}

/**
 * On Node 20, the AWS SDK warns that its later versions need Node 22. A release contains one version of it, so operators cannot act on
 * that. The SDK reads only this variable.
 */
export function silenceSdkWarning(env: NodeJS.ProcessEnv = process.env): void {
  env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
}

/** Returns the settings for the child processes of a server, with the secrets as they are now. */
export function environmentOfChildren(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const { SECRETS_DIR: _folder, ...given } = withSecretFiles(env).given;
  return given;
}

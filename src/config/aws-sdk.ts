/**
 * On Node 20, the AWS SDK warns that its later versions need Node 22. A release contains one version of it, so operators cannot act on
 * that. The SDK reads only this variable.
 */
export function silenceVersionWarning(): void {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
}

// node-postgres declares no types of this module. It is how its own queries turn a parameter into text or bytes.
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): string | Buffer | null };
  export default utils;
}

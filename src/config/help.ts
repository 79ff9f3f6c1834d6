/** Whether the command was called to explain itself. Then it does nothing else and exits with 0. */
export const isHelpAsked = (): boolean =>
  process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h');

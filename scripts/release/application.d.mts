/** Copies the build, the contract, the migrations and the documents into `target`. */
export function stageApplication(
  root: string,
  target: string,
  revision: { version: string; commit: string; epoch: number },
): void;

// Says after each file how many are done and how much time has passed. In a terminal jest itself shows this.
export default class ProgressReporter {
  onTestResult(_test, _result, { numFailedTestSuites, numPassedTestSuites, numTotalTestSuites, startTime }) {
    if (process.stdout.isTTY || numTotalTestSuites === 1) return;
    const done = numFailedTestSuites + numPassedTestSuites;
    const seconds = Math.round((Date.now() - startTime) / 1_000);
    const elapsed = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    process.stdout.write(`${done} of ${numTotalTestSuites} files, ${elapsed} minutes\n`);
  }
}

// A jest reporter for scripts/mutants: one line of JSON for each test as it ends.
export default class LineReporter {
  onTestCaseResult(_test, { fullName, status }) {
    say({ title: fullName, status });
  }

  onTestFileResult(_test, { testExecError, failureMessage, numPassingTests, numFailingTests }) {
    // a file that could not be loaded, or whose set-up failed outside a test
    if (testExecError || (failureMessage && numFailingTests === 0))
      say({ title: '', status: 'failed', fault: testExecError?.message ?? failureMessage });
    say({ end: true, passed: numPassingTests });
  }
}

function say(fact) {
  process.stdout.write(`\n@@${JSON.stringify(fact)}\n`);
}

// A jest reporter for scripts/mutants: prints one line of JSON per test result.
export default class LineReporter {
  onTestCaseResult(_test, { fullName, status }) {
    printLine({ title: fullName, status });
  }

  onTestFileResult(_test, { testExecError, failureMessage, numPassingTests, numFailingTests }) {
    // The file could not be loaded, or its set-up failed outside a test.
    if (testExecError || (failureMessage && numFailingTests === 0))
      printLine({ title: '', status: 'failed', error: testExecError?.message ?? failureMessage });
    printLine({ end: true, passed: numPassingTests });
  }
}

function printLine(fact) {
  process.stdout.write(`\n@@${JSON.stringify(fact)}\n`);
}

// A test that makes no assertion cannot fail on a wrong result: for example one whose loop has nothing to do.
// jest loads this file once per worker and calls the function for each test file.
module.exports = () => {
  const { beforeEach, expect } = require('@jest/globals');
  beforeEach(() => expect.hasAssertions());
};

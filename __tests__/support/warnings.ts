type Warning = [message: string, options: { type: string; code: string; detail?: string }];

export function useWarnings() {
  let emitted: jest.SpyInstance;
  beforeEach(() => {
    emitted = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  });
  afterEach(() => emitted.mockRestore());
  const list = () => emitted.mock.calls as Warning[];
  return {
    list,
    listMessages: () => list().map(([message]) => message),
    listCodes: () => list().map(([, { code }]) => code),
  };
}

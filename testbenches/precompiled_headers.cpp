// Exists so that the headers which all tests include are precompiled once.

// The program is empty: it links all of the libraries that work on files, reports and child processes.
int main() {}

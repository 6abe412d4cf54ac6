"""What the deployed site runs: reads the files of a build and imports nothing of the compiler."""

"""Reading tables: text files, Parquet, data frames, arrays and column roles."""

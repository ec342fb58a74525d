# slang's command line, for its Python module: TOP FILE...
# Errors are what counts. The warnings are left out: they are about generated parameters that leave an expression without a bit.
import shlex
import sys

import pyslang

# the module's names moved between releases
home = getattr(pyslang, "driver", pyslang)
driver = home.Driver()
driver.addStandardArgs()
line = shlex.join(["slang", "-Wnone", "--top", sys.argv[1]] + sys.argv[2:])
good = driver.parseCommandLine(line, home.CommandLineOptions()) and driver.processOptions() and driver.parseAllSources()
if not good:
    sys.exit(2)
driver.reportCompilation(driver.createCompilation(), True)
sys.exit(0 if driver.reportDiagnostics(True) else 1)

#include "device.h"
#include "kernels.inc"
#include <algorithm>
#include "scheduler.h"
#include "driver.h"
